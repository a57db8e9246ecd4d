package dev.ashlar.gateway.session;

import dev.ashlar.gateway.iam.Tags;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.IdentityTag;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What a trust policy sees of the session that a request wants, and of the role itself. */
final class TrustFacts {
  private TrustFacts() {}

  /**
   * @param sessionTags that the session will have
   * @return values of condition keys, in lower case
   */
  static Map<String, List<String>> of(
      RoleSession session, IdentityRow role, List<IdentityTag> sessionTags) {
    Map<String, List<String>> facts = new HashMap<>(Tags.resourceFacts(role));
    facts.put("sts:rolesessionname", List.of(session.name()));
    if (!sessionTags.isEmpty()) {
      facts.put("aws:tagkeys", sessionTags.stream().map(IdentityTag::getKey).toList());
      for (IdentityTag tag : sessionTags) {
        String key = tag.getKey().toLowerCase(Locale.ROOT);
        facts.put("aws:requesttag/" + key, List.of(tag.getValue()));
      }
    }
    return facts;
  }

  /** The actions that a trust policy has to allow for such a session. */
  static List<String> actions(String action, List<IdentityTag> sessionTags) {
    return sessionTags.isEmpty() ? List.of(action) : List.of(action, "sts:TagSession");
  }
}
