package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.iam.IamCall.Subject;
import dev.ashlar.gateway.principal.BuiltInPolicies;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.IdentityDocument;
import dev.ashlar.protocol.message.IdentityRow;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Versions of managed policies, of which one, the default, counts. */
final class PolicyVersions {
  private static final int VERSIONS_MAX = 5;
  private static final Pattern VERSION = Pattern.compile("v[1-9][0-9]*");

  private PolicyVersions() {}

  static Map<String, Action> actions() {
    return Map.of(
        "CreatePolicyVersion", new Action(Action.ofPolicy(), PolicyVersions::create),
        "GetPolicyVersion", new Action(Action.ofPolicy(), PolicyVersions::get),
        "ListPolicyVersions", new Action(Action.ofPolicy(), PolicyVersions::list),
        "DeletePolicyVersion", new Action(Action.ofPolicy(), PolicyVersions::delete),
        "SetDefaultPolicyVersion", new Action(Action.ofPolicy(), PolicyVersions::setDefault));
  }

  private static void create(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    String text = Policies.document(call.parameters());
    boolean isDefault = call.parameters().flag("SetAsDefault", false);
    IdentityRow changed =
        call.directory()
            .change(
                subject.row(),
                row -> {
                  if (row.getDocumentsCount() >= VERSIONS_MAX) {
                    throw new QueryException(
                        QueryError.LIMIT_EXCEEDED,
                        "A managed policy can have up to "
                            + VERSIONS_MAX
                            + " versions. Before you create a new version, you must delete an"
                            + " existing version.");
                  }
                  int number = row.getVersionsMade() + 1;
                  row.setVersionsMade(number)
                      .addDocuments(
                          IdentityDocument.newBuilder().setName("v" + number).setText(text));
                  if (isDefault) {
                    row.setDefaultVersion("v" + number);
                  }
                });
    call.out()
        .open("PolicyVersion")
        .element("VersionId", "v" + changed.getVersionsMade())
        .element("IsDefaultVersion", isDefault)
        .element("CreateDate", Rows.time(call.query().now().toEpochMilli()))
        .close();
  }

  private static String version(IamCall call) throws QueryException {
    return call.parameters().text("VersionId", 2, 10, VERSION);
  }

  private static void get(IamCall call, Subject subject) throws QueryException {
    String version = version(call);
    IdentityRow row = subject instanceof Subject.Named named ? builtIn(named) : subject.row();
    IdentityDocument document =
        row.getDocumentsList().stream()
            .filter(candidate -> candidate.getName().equals(version))
            .findFirst()
            .orElseThrow(() -> absent(version));
    call.out()
        .open("PolicyVersion")
        .element("Document", Rows.document(document.getText()))
        .element("VersionId", version)
        .element("IsDefaultVersion", version.equals(row.getDefaultVersion()))
        .element("CreateDate", Rows.time(document.getCreatedAtMs()))
        .close();
  }

  private static IdentityRow builtIn(Subject.Named named) {
    IdentityRow.Builder row = IdentityRow.newBuilder().setDefaultVersion("v1");
    BuiltInPolicies.withArn(named.arn())
        .ifPresent(
            policy ->
                row.addDocuments(
                    IdentityDocument.newBuilder().setName("v1").setText(policy.document())));
    return row.build();
  }

  private static QueryException absent(String version) {
    return new QueryException(
        QueryError.NO_SUCH_ENTITY,
        "Policy version " + version + " does not exist or is not attachable.");
  }

  private static void list(IamCall call, Subject subject) throws QueryException {
    IdentityRow row = subject instanceof Subject.Named named ? builtIn(named) : subject.row();
    Paging.of(call.parameters())
        .write(
            call.out(),
            "Versions",
            row.getDocumentsList(),
            IdentityDocument::getName,
            (out, document) ->
                out.open("member")
                    .element("VersionId", document.getName())
                    .element("IsDefaultVersion", document.getName().equals(row.getDefaultVersion()))
                    .element("CreateDate", Rows.time(document.getCreatedAtMs()))
                    .close());
  }

  private static void delete(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    String version = version(call);
    call.directory()
        .change(
            subject.row(),
            row -> {
              if (version.equals(row.getDefaultVersion())) {
                throw new QueryException(
                    QueryError.DELETE_CONFLICT, "Cannot delete the default version of a policy.");
              }
              List<IdentityDocument> left =
                  row.getDocumentsList().stream()
                      .filter(document -> !document.getName().equals(version))
                      .toList();
              if (left.size() == row.getDocumentsCount()) {
                throw absent(version);
              }
              row.clearDocuments().addAllDocuments(left);
            });
  }

  private static void setDefault(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    String version = version(call);
    call.directory()
        .change(
            subject.row(),
            row -> {
              boolean exists =
                  row.getDocumentsList().stream()
                      .anyMatch(document -> document.getName().equals(version));
              if (!exists) {
                throw absent(version);
              }
              row.setDefaultVersion(version);
            });
  }
}
