package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.access.policy.PolicyKind;
import dev.ashlar.gateway.iam.IamCall.Subject;
import dev.ashlar.gateway.principal.Arns;
import dev.ashlar.gateway.principal.BuiltInPolicies;
import dev.ashlar.gateway.principal.BuiltInPolicies.BuiltIn;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.gateway.query.QueryParameters;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.IdentityPage;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.IdentityDocument;
import dev.ashlar.protocol.message.IdentityListQuery;
import dev.ashlar.protocol.message.IdentityRow;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** Managed policies: those of the account, and those that are built in. */
final class Policies {
  private static final Pattern SCOPE = Pattern.compile("All|AWS|Local");

  private Policies() {}

  static Map<String, Action> actions() {
    return Map.of(
        "CreatePolicy", new Action(Action.ofNew(Entity.POLICY), Policies::create),
        "GetPolicy", new Action(Action.ofPolicy(), Policies::get),
        "ListPolicies", new Action(Action.ofAll(Entity.POLICY), Policies::list),
        "DeletePolicy", new Action(Action.ofPolicy(), Policies::delete));
  }

  /** What has this ARN: a policy of the account or a built-in one. */
  static Subject find(IamCall call, String arn) throws MetadataUnavailableException {
    if (BuiltInPolicies.withArn(arn).isPresent()) {
      return new Subject.Named(arn);
    }
    Optional<Arns.Name> name =
        Arns.parse(arn)
            .filter(parsed -> parsed.account().equals(call.account()))
            .filter(parsed -> parsed.kind() == Entity.POLICY.kind());
    Optional<IdentityRow> row =
        name.isEmpty()
            ? Optional.empty()
            : call.directory()
                .find(Entity.POLICY, name.get().name())
                // The caller's right was checked for this very ARN.
                .filter(found -> Arns.of(found).equals(arn));
    return row.<Subject>map(Subject.Present::new)
        .orElseGet(() -> new Subject.Absent("Policy " + arn + " was not found."));
  }

  private static void create(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    QueryParameters parameters = call.parameters();
    IdentityRow row =
        call.directory()
            .create(
                Users.newRow(call, Entity.POLICY)
                    .setDescription(Roles.description(parameters).orElse(""))
                    .addDocuments(
                        IdentityDocument.newBuilder().setName("v1").setText(document(parameters)))
                    .setDefaultVersion("v1")
                    .setVersionsMade(1));
    Rows.write(call.out(), "Policy", row);
  }

  /** The document of a new policy or version. */
  static String document(QueryParameters parameters) throws QueryException {
    return Documents.checked(
        parameters.required("PolicyDocument"),
        PolicyKind.identity(PolicyKind.MANAGED_CHARACTERS_MAX));
  }

  private static void get(IamCall call, Subject subject) throws QueryException {
    if (subject instanceof Subject.Named named) {
      BuiltInPolicies.withArn(named.arn())
          .ifPresent(builtIn -> write(call.out(), "Policy", builtIn));
    } else {
      Rows.write(call.out(), "Policy", subject.row());
    }
  }

  private static void write(XmlWriter out, String element, BuiltIn policy) {
    out.open(element)
        .element("PolicyName", policy.name())
        .element("PolicyId", policy.id())
        .element("Arn", policy.arn())
        .element("Path", "/")
        .element("DefaultVersionId", "v1")
        .element("AttachmentCount", 0)
        .element("PermissionsBoundaryUsageCount", 0)
        .element("IsAttachable", true)
        .element("Description", policy.description())
        .element("CreateDate", Rows.time(0))
        .element("UpdateDate", Rows.time(0))
        .close();
  }

  /** Those of the account by name, after the built-in ones. */
  private static void list(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    QueryParameters parameters = call.parameters();
    Paging paging = Paging.of(parameters);
    String scope = parameters.optionalText("Scope", 1, 16, SCOPE).orElse("All");
    boolean onlyAttached = parameters.flag("OnlyAttached", false);
    String prefix = Names.pathPrefix(parameters);
    List<BuiltIn> builtIn = List.of();
    boolean isAmongBuiltIn =
        paging.after().map(row -> row.getKind() != Entity.POLICY.kind()).orElse(true);
    if (!scope.equals("Local") && isAmongBuiltIn && !onlyAttached && prefix.equals("/")) {
      String behind = paging.after().map(IdentityRow::getName).orElse("");
      builtIn =
          BuiltInPolicies.all().stream()
              .filter(policy -> policy.name().compareTo(behind) > 0)
              .limit(paging.max())
              .toList();
    }
    call.out().open("Policies");
    builtIn.forEach(policy -> write(call.out(), "member", policy));
    Optional<IdentityRow> last = Optional.empty();
    if (!builtIn.isEmpty()) {
      last = Optional.of(IdentityRow.newBuilder().setName(builtIn.getLast().name()).build());
    }
    boolean isTruncated = !scope.equals("Local") && builtIn.size() == paging.max();
    if (!isTruncated && !scope.equals("AWS")) {
      IdentityListQuery.Builder query =
          IdentityListQuery.newBuilder()
              .setKind(Entity.POLICY.kind())
              .setPathPrefix(prefix)
              .setMax(paging.max() - builtIn.size());
      paging
          .after()
          .filter(row -> row.getKind() == Entity.POLICY.kind())
          .ifPresent(query::setAfter);
      IdentityPage page = call.directory().list(query);
      page.identities().stream()
          .filter(row -> !onlyAttached || row.getAttachments() > 0)
          .forEach(row -> Rows.write(call.out(), "member", row.toBuilder().clearTags().build()));
      isTruncated = page.truncated();
      last = page.identities().isEmpty() ? last : Users.last(page);
    }
    call.out().close();
    Paging.end(call.out(), last, isTruncated);
  }

  private static void delete(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    IdentityRow row = subject.row();
    if (row.getAttachments() > 0) {
      throw new QueryException(
          QueryError.DELETE_CONFLICT, "Cannot delete a policy attached to entities.");
    }
    if (row.getDocumentsCount() > 1) {
      throw new QueryException(
          QueryError.DELETE_CONFLICT,
          "This policy has more than one version. Before you delete a policy, you must delete the"
              + " policy's versions. The default version is deleted with the policy.");
    }
    call.directory().delete(row);
  }
}
