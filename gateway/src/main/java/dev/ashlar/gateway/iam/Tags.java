package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.iam.IamCall.Subject;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.gateway.query.QueryParameters;
import dev.ashlar.gateway.query.QueryParameters.Member;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.IdentityTag;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Tags of identities. */
public final class Tags {
  private static final int TAGS_MAX = 50;
  private static final int KEY_CHARS_MAX = 128;
  private static final int VALUE_CHARS_MAX = 256;
  private static final Pattern TEXT = Pattern.compile("[\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]*");

  private Tags() {}

  static Map<String, Action> actions() {
    return Map.of(
        "TagUser", new Action(Action.of(Entity.USER), Tags::tag),
        "UntagUser", new Action(Action.of(Entity.USER), Tags::untag),
        "ListUserTags", new Action(Action.of(Entity.USER), Tags::list),
        "TagRole", new Action(Action.of(Entity.ROLE), Tags::tag),
        "UntagRole", new Action(Action.of(Entity.ROLE), Tags::untag),
        "ListRoleTags", new Action(Action.of(Entity.ROLE), Tags::list),
        "TagPolicy", new Action(Action.ofPolicy(), Tags::tag),
        "UntagPolicy", new Action(Action.ofPolicy(), Tags::untag),
        "ListPolicyTags", new Action(Action.ofPolicy(), Tags::list));
  }

  /**
   * The tags of a request that creates something, or begins a session.
   *
   * @throws QueryException ValidationError, LimitExceeded, InvalidInput for a key that comes twice
   */
  public static List<IdentityTag> of(QueryParameters parameters) throws QueryException {
    List<IdentityTag> tags = new ArrayList<>();
    for (Member member : parameters.structures("Tags", "Key")) {
      tags.add(of(member.required("Key"), member.required("Value")));
    }
    return checked(tags);
  }

  public static IdentityTag of(String key, String value) {
    return IdentityTag.newBuilder().setKey(key).setValue(value).build();
  }

  /** These tags, if they are valid together; see {@link #of(QueryParameters)}. */
  public static List<IdentityTag> checked(List<IdentityTag> tags) throws QueryException {
    Set<String> keys = new HashSet<>();
    for (IdentityTag tag : tags) {
      String key = tag.getKey();
      String value = tag.getValue();
      if (key.isEmpty() || key.length() > KEY_CHARS_MAX || !TEXT.matcher(key).matches()) {
        throw QueryException.invalid("tags.key", key, "Member must be a valid key of a tag");
      }
      if (value.length() > VALUE_CHARS_MAX || !TEXT.matcher(value).matches()) {
        throw QueryException.invalid("tags.value", value, "Member must be a valid value of a tag");
      }
      if (key.regionMatches(true, 0, "aws:", 0, 4)) {
        throw new QueryException(QueryError.INVALID_INPUT, "Keys of tags must not begin with aws:");
      }
      // Condition keys do not differ in case.
      if (!keys.add(key.toLowerCase(Locale.ROOT))) {
        throw new QueryException(
            QueryError.INVALID_INPUT, "Duplicate tag keys found. Keys do not differ in case.");
      }
    }
    if (tags.size() > TAGS_MAX) {
      throw new QueryException(
          QueryError.LIMIT_EXCEEDED, "The number of tags exceeds the limit of " + TAGS_MAX + ".");
    }
    return tags;
  }

  /** The condition keys, in lower case, that say how an identity is tagged. */
  public static Map<String, List<String>> resourceFacts(IdentityRow row) {
    Map<String, List<String>> facts = new HashMap<>();
    for (IdentityTag tag : row.getTagsList()) {
      String key = tag.getKey().toLowerCase(Locale.ROOT);
      facts.put("aws:resourcetag/" + key, List.of(tag.getValue()));
      facts.put("iam:resourcetag/" + key, List.of(tag.getValue()));
    }
    return facts;
  }

  static void tag(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    List<IdentityTag> added = of(call.parameters());
    List<String> keys = added.stream().map(IdentityTag::getKey).toList();
    IdentityRow row = subject.row();
    call.directory()
        .change(
            row,
            changed -> {
              List<IdentityTag> all = without(changed.getTagsList(), keys);
              all.addAll(added);
              if (all.size() > TAGS_MAX) {
                throw new QueryException(
                    QueryError.LIMIT_EXCEEDED,
                    "The number of tags has reached the limit of " + TAGS_MAX + ".");
              }
              changed.clearTags().addAllTags(all);
            });
  }

  static void untag(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    List<String> keys = call.parameters().list("TagKeys");
    call.directory()
        .change(
            subject.row(),
            changed -> {
              List<IdentityTag> left = without(changed.getTagsList(), keys);
              changed.clearTags().addAllTags(left);
            });
  }

  private static List<IdentityTag> without(List<IdentityTag> tags, List<String> keys) {
    List<IdentityTag> left = new ArrayList<>(tags);
    left.removeIf(tag -> keys.stream().anyMatch(key -> key.equalsIgnoreCase(tag.getKey())));
    return left;
  }

  static void list(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    Paging.of(call.parameters())
        .write(
            call.out(),
            "Tags",
            subject.row().getTagsList(),
            IdentityTag::getKey,
            (out, tag) ->
                out.open("member")
                    .element("Key", tag.getKey())
                    .element("Value", tag.getValue())
                    .close());
  }
}
