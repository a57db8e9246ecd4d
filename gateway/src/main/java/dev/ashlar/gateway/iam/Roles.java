package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.access.policy.PolicyKind;
import dev.ashlar.gateway.iam.IamCall.Subject;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.gateway.query.QueryParameters;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.IdentityRow;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** Roles: identities without keys of their own, which others assume. */
final class Roles {
  private static final int SESSION_SECONDS_MIN = 3600;
  private static final int SESSION_SECONDS_MAX = 12 * 3600;
  private static final int DESCRIPTION_CHARS_MAX = 1000;
  private static final Pattern DESCRIPTION = Pattern.compile("[\\t\\n\\r -\\x7E\\xA1-\\xFF]*");

  private Roles() {}

  static Map<String, Action> actions() {
    return Map.of(
        "CreateRole", new Action(Action.ofNew(Entity.ROLE), Roles::create),
        "GetRole", new Action(Action.of(Entity.ROLE), Roles::get),
        "ListRoles", new Action(Action.ofAll(Entity.ROLE), (c, s) -> Users.list(c, Entity.ROLE)),
        "UpdateRole", new Action(Action.of(Entity.ROLE), Roles::update),
        "UpdateRoleDescription", new Action(Action.of(Entity.ROLE), Roles::describe),
        "UpdateAssumeRolePolicy", new Action(Action.of(Entity.ROLE), Roles::trust),
        "DeleteRole", new Action(Action.of(Entity.ROLE), Users::delete));
  }

  private static void create(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    QueryParameters parameters = call.parameters();
    IdentityRow row =
        call.directory()
            .create(
                Users.newRow(call, Entity.ROLE)
                    .setTrustPolicy(trustPolicy(parameters, "AssumeRolePolicyDocument"))
                    .setDescription(description(parameters).orElse(""))
                    .setMaxSessionSeconds(maxSession(parameters, SESSION_SECONDS_MIN)));
    Rows.write(call.out(), "Role", row);
  }

  private static String trustPolicy(QueryParameters parameters, String name) throws QueryException {
    return Documents.checked(parameters.required(name), PolicyKind.trust());
  }

  static Optional<String> description(QueryParameters parameters) throws QueryException {
    return parameters.optionalText("Description", 0, DESCRIPTION_CHARS_MAX, DESCRIPTION);
  }

  private static int maxSession(QueryParameters parameters, int otherwise) throws QueryException {
    return parameters.number(
        "MaxSessionDuration", SESSION_SECONDS_MIN, SESSION_SECONDS_MAX, otherwise);
  }

  private static void get(IamCall call, Subject subject) throws QueryException {
    Rows.write(call.out(), "Role", subject.row());
  }

  private static void update(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    String description = description(call.parameters()).orElse("");
    int maxSession = maxSession(call.parameters(), SESSION_SECONDS_MIN);
    boolean isGiven = call.parameters().optional("MaxSessionDuration").isPresent();
    boolean isDescribed = call.parameters().optional("Description").isPresent();
    call.directory()
        .change(
            subject.row(),
            changed -> {
              if (isDescribed) {
                changed.setDescription(description);
              }
              if (isGiven) {
                changed.setMaxSessionSeconds(maxSession);
              }
            });
  }

  private static void describe(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    call.parameters().required("Description");
    String description = description(call.parameters()).orElse("");
    IdentityRow row =
        call.directory().change(subject.row(), changed -> changed.setDescription(description));
    Rows.write(call.out(), "Role", row);
  }

  private static void trust(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    String policy = trustPolicy(call.parameters(), "PolicyDocument");
    call.directory().change(subject.row(), changed -> changed.setTrustPolicy(policy));
  }
}
