package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.iam.Action.Targeted;
import dev.ashlar.gateway.iam.IamCall.Subject;
import dev.ashlar.gateway.principal.Arns;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.gateway.query.QueryParameters;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.IdentityPage;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityListQuery;
import dev.ashlar.protocol.message.IdentityRow;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** OpenID Connect providers, whose tokens can begin sessions of roles. */
final class Providers {
  private static final String SCHEME = "https://";
  private static final int URL_CHARS_MAX = 255;
  private static final int CLIENT_IDS_MAX = 100;
  private static final int CLIENT_ID_CHARS_MAX = 255;
  private static final int THUMBPRINTS_MAX = 5;
  private static final int LIST_MAX = 1000;
  private static final Pattern VISIBLE = Pattern.compile("[!-\\x7E]+");
  private static final Pattern THUMBPRINT = Pattern.compile("[0-9a-f]{40}");
  private static final String ARN = "OpenIDConnectProviderArn";

  private Providers() {}

  static Map<String, Action> actions() {
    return Map.ofEntries(
        Map.entry("CreateOpenIDConnectProvider", new Action(ofNew(), Providers::create)),
        Map.entry("GetOpenIDConnectProvider", new Action(ofArn(), Providers::get)),
        Map.entry("ListOpenIDConnectProviders", new Action(ofAll(), Providers::list)),
        Map.entry("DeleteOpenIDConnectProvider", new Action(ofArn(), Providers::delete)),
        Map.entry("AddClientIDToOpenIDConnectProvider", new Action(ofArn(), Providers::addClient)),
        Map.entry(
            "RemoveClientIDFromOpenIDConnectProvider",
            new Action(ofArn(), Providers::removeClient)),
        Map.entry(
            "UpdateOpenIDConnectProviderThumbprint",
            new Action(ofArn(), Providers::setThumbprints)),
        Map.entry("TagOpenIDConnectProvider", new Action(ofArn(), Tags::tag)),
        Map.entry("UntagOpenIDConnectProvider", new Action(ofArn(), Tags::untag)),
        Map.entry("ListOpenIDConnectProviderTags", new Action(ofArn(), Tags::list)));
  }

  // ---- What an action is about ----

  private static Action.Target ofNew() {
    return call -> {
      String arn = Names.arn(call.account(), Entity.PROVIDER, "/", nameOf(call.parameters()));
      return Targeted.of(new Subject.Named(arn), arn);
    };
  }

  private static Action.Target ofAll() {
    return call -> {
      String arn = Names.arn(call.account(), Entity.PROVIDER, "/", "*");
      return Targeted.of(new Subject.Named(arn), arn);
    };
  }

  private static Action.Target ofArn() {
    return call -> {
      String arn = call.parameters().text(ARN, 20, 2048, VISIBLE);
      String prefix = Names.arn(call.account(), Entity.PROVIDER, "/", "");
      if (!arn.startsWith(prefix) || arn.length() == prefix.length()) {
        return Targeted.of(absent(arn), arn);
      }
      Subject subject =
          call.directory()
              .find(Entity.PROVIDER, arn.substring(prefix.length()))
              .filter(row -> Arns.of(row).equals(arn))
              .<Subject>map(Subject.Present::new)
              .orElseGet(() -> absent(arn));
      return Targeted.of(subject, arn);
    };
  }

  private static Subject absent(String arn) {
    return new Subject.Absent("OpenIDConnect Provider not found for arn " + arn);
  }

  /** The name of a provider, which is its URL without the scheme. */
  private static String nameOf(QueryParameters parameters) throws QueryException {
    String text = parameters.text("Url", 1, URL_CHARS_MAX, VISIBLE);
    try {
      URI url = new URI(text);
      boolean isPlain =
          text.startsWith(SCHEME)
              && url.getHost() != null
              && url.getRawQuery() == null
              && url.getRawFragment() == null
              && url.getRawUserInfo() == null;
      if (isPlain) {
        return text.substring(SCHEME.length());
      }
    } catch (URISyntaxException e) {
      // Refused below.
    }
    throw new QueryException(QueryError.VALIDATION_ERROR, "Invalid Open ID Connect Provider URL");
  }

  // ---- The actions ----

  private static void create(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    QueryParameters parameters = call.parameters();
    IdentityRow row =
        call.directory()
            .create(
                IdentityRow.newBuilder()
                    .setKind(IdentityKind.IDENTITY_PROVIDER)
                    .setId(Names.newId(Entity.PROVIDER, Users.RANDOM))
                    .setName(nameOf(parameters))
                    .setPath("/")
                    .addAllClientIds(clientIds(parameters))
                    .addAllThumbprints(thumbprints(parameters))
                    .addAllTags(Tags.of(parameters)));
    call.out().element(ARN, Arns.of(row));
    Rows.tags(call.out(), row.getTagsList());
  }

  private static List<String> clientIds(QueryParameters parameters) throws QueryException {
    List<String> ids = parameters.list("ClientIDList");
    for (String id : ids) {
      if (id.isEmpty() || id.length() > CLIENT_ID_CHARS_MAX) {
        throw QueryException.invalid(
            "clientIDList", id, "Member must have length between 1 and " + CLIENT_ID_CHARS_MAX);
      }
    }
    return distinct(ids, CLIENT_IDS_MAX, "client ids");
  }

  private static List<String> thumbprints(QueryParameters parameters) throws QueryException {
    List<String> all = new ArrayList<>();
    for (String given : parameters.list("ThumbprintList")) {
      String thumbprint = given.toLowerCase(Locale.ROOT);
      if (!THUMBPRINT.matcher(thumbprint).matches()) {
        throw QueryException.invalid(
            "thumbprintList", given, "Member must be 40 hexadecimal digits");
      }
      all.add(thumbprint);
    }
    return distinct(all, THUMBPRINTS_MAX, "thumbprints");
  }

  private static List<String> distinct(List<String> values, int max, String noun)
      throws QueryException {
    if (new HashSet<>(values).size() < values.size()) {
      throw new QueryException(QueryError.INVALID_INPUT, "Duplicate " + noun + ".");
    }
    if (values.size() > max) {
      throw tooMany(max, noun);
    }
    return values;
  }

  private static QueryException tooMany(int max, String noun) {
    return new QueryException(
        QueryError.LIMIT_EXCEEDED, "A provider can have at most " + max + " " + noun + ".");
  }

  private static void get(IamCall call, Subject subject) throws QueryException {
    IdentityRow row = subject.row();
    XmlWriter out = call.out();
    out.element("Url", row.getName());
    members(out, "ClientIDList", row.getClientIdsList());
    members(out, "ThumbprintList", row.getThumbprintsList());
    out.element("CreateDate", Rows.time(row.getCreatedAtMs()));
    Rows.tags(out, row.getTagsList());
  }

  private static void members(XmlWriter out, String element, List<String> values) {
    out.open(element);
    values.forEach(value -> out.element("member", value));
    out.close();
  }

  private static void list(IamCall call, Subject subject) throws MetadataUnavailableException {
    call.out().open("OpenIDConnectProviderList");
    Optional<IdentityRow> last = Optional.empty();
    boolean hasMore = true;
    // This list has no pages; an account has at most 100 providers.
    while (hasMore) {
      IdentityListQuery.Builder query =
          IdentityListQuery.newBuilder()
              .setKind(IdentityKind.IDENTITY_PROVIDER)
              .setPathPrefix("/")
              .setMax(LIST_MAX);
      last.ifPresent(query::setAfter);
      IdentityPage page = call.directory().list(query);
      for (IdentityRow row : page.identities()) {
        call.out().open("member").element("Arn", Arns.of(row)).close();
      }
      last = Users.last(page);
      hasMore = page.truncated() && last.isPresent();
    }
    call.out().close();
  }

  /** Succeeds also if there is no such provider, as in AWS. */
  private static void delete(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    if (subject instanceof Subject.Present present) {
      call.directory().delete(present.row());
    }
  }

  private static void addClient(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    String client = clientId(call);
    call.directory()
        .change(
            subject.row(),
            changed -> {
              if (changed.getClientIdsList().contains(client)) {
                return;
              }
              if (changed.getClientIdsCount() == CLIENT_IDS_MAX) {
                throw tooMany(CLIENT_IDS_MAX, "client ids");
              }
              changed.addClientIds(client);
            });
  }

  private static void removeClient(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    String client = clientId(call);
    call.directory()
        .change(
            subject.row(),
            changed -> {
              List<String> left = new ArrayList<>(changed.getClientIdsList());
              left.remove(client);
              changed.clearClientIds().addAllClientIds(left);
            });
  }

  private static String clientId(IamCall call) throws QueryException {
    return call.parameters().text("ClientID", 1, CLIENT_ID_CHARS_MAX, Pattern.compile(".*"));
  }

  private static void setThumbprints(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    List<String> thumbprints = thumbprints(call.parameters());
    call.directory()
        .change(
            subject.row(), changed -> changed.clearThumbprints().addAllThumbprints(thumbprints));
  }
}
