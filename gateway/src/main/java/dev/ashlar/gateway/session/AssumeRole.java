package dev.ashlar.gateway.session;

import dev.ashlar.gateway.access.policy.AccessRequest;
import dev.ashlar.gateway.access.policy.Policy;
import dev.ashlar.gateway.access.policy.PolicyKind;
import dev.ashlar.gateway.access.policy.Requester;
import dev.ashlar.gateway.access.policy.decision.Authorization;
import dev.ashlar.gateway.access.policy.decision.Decision;
import dev.ashlar.gateway.iam.Documents;
import dev.ashlar.gateway.iam.Tags;
import dev.ashlar.gateway.principal.Arns;
import dev.ashlar.gateway.query.QueryCall;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.gateway.query.QueryParameters;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.IdentityClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.IdentityTag;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** AssumeRole: a session with the rights of a role, if the role trusts the caller. */
record AssumeRole(IdentityClient identities, SessionIssuer issuer) {
  private static final Pattern EXTERNAL_ID = Pattern.compile("[\\w+=,.@:/-]+");

  /** Of a session that is begun with the credentials of another role's session. */
  private static final int CHAINED_SECONDS_MAX = 3600;

  void handle(QueryCall call, XmlWriter out) throws QueryException, MetadataUnavailableException {
    QueryParameters parameters = call.parameters();
    refuseUnsupported(parameters);
    RoleSession session = RoleSession.of(parameters);
    Optional<String> externalId = parameters.optionalText("ExternalId", 2, 1224, EXTERNAL_ID);
    List<IdentityTag> tags = Tags.of(parameters);
    // Whether the role exists is not told to those who may not assume it.
    IdentityRow role = session.role(identities).orElseThrow(() -> call.denied(session.roleArn()));
    Map<String, List<String>> facts = TrustFacts.of(session, role, tags);
    externalId.ifPresent(id -> facts.put("sts:externalid", List.of(id)));
    requireTrust(call, role, facts, tags);
    session.checkDuration(role);
    checkChaining(call, session.seconds());
    List<String> limits = new SessionLimits(identities, role.getAccount()).read(parameters);
    session.begin(issuer, role, call.now(), limits, tags, out);
  }

  private static void refuseUnsupported(QueryParameters parameters) throws QueryException {
    if (parameters.optional("SerialNumber").isPresent()
        || parameters.optional("TokenCode").isPresent()) {
      throw new QueryException(
          QueryError.ACCESS_DENIED,
          "MultiFactorAuthentication failed with invalid MFA one time pass code.");
    }
    for (String name : List.of("SourceIdentity", "TransitiveTagKeys.member.1")) {
      if (parameters.optional(name).isPresent()) {
        throw new QueryException(
            QueryError.NOT_IMPLEMENTED, "The parameter " + name + " is not supported.");
      }
    }
  }

  private static void requireTrust(
      QueryCall call, IdentityRow role, Map<String, List<String>> facts, List<IdentityTag> tags)
      throws QueryException {
    Policy trust = Documents.parse(role.getTrustPolicy(), PolicyKind.trust());
    for (String action : TrustFacts.actions("sts:AssumeRole", tags)) {
      AccessRequest request =
          new AccessRequest(call.caller().requester(), action, Arns.of(role), call.facts(facts));
      Decision decision =
          Authorization.decideAssumeRole(
              request, call.caller().policies(), role.getAccount(), trust);
      if (!decision.isAllowed()) {
        throw call.denied(Arns.of(role)).deniedBy(decision.why());
      }
    }
  }

  private static void checkChaining(QueryCall call, int seconds) throws QueryException {
    if (call.caller().requester() instanceof Requester.RoleSession
        && seconds > CHAINED_SECONDS_MAX) {
      throw new QueryException(
          QueryError.VALIDATION_ERROR,
          "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by"
              + " role chaining");
    }
  }
}
