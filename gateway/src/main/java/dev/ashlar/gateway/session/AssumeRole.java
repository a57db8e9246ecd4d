package dev.ashlar.gateway.session;

import dev.ashlar.gateway.access.policy.AccessRequest;
import dev.ashlar.gateway.access.policy.Policy;
import dev.ashlar.gateway.access.policy.PolicyKind;
import dev.ashlar.gateway.access.policy.Requester;
import dev.ashlar.gateway.access.policy.decision.Authorization;
import dev.ashlar.gateway.iam.Documents;
import dev.ashlar.gateway.iam.Tags;
import dev.ashlar.gateway.principal.Arns;
import dev.ashlar.gateway.query.QueryCall;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.gateway.query.QueryParameters;
import dev.ashlar.gateway.session.SessionIssuer.Issued;
import dev.ashlar.gateway.session.SessionIssuer.Terms;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.IdentityClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.IdentityTag;
import dev.ashlar.protocol.message.PrincipalQuery;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** AssumeRole: a session with the rights of a role, if the role trusts the caller. */
record AssumeRole(IdentityClient identities, SessionIssuer issuer) {
  private static final Pattern SESSION_NAME = Pattern.compile("[\\w+=,.@-]+");
  private static final Pattern EXTERNAL_ID = Pattern.compile("[\\w+=,.@:/-]+");
  private static final Pattern ANY = Pattern.compile("[!-\\x7E]+");
  private static final int SECONDS_MIN = 900;
  private static final int SECONDS_MAX = 43_200;
  private static final int SECONDS_DEFAULT = 3600;

  /** Of a session that is begun with the credentials of another role's session. */
  private static final int CHAINED_SECONDS_MAX = 3600;

  void handle(QueryCall call, XmlWriter out) throws QueryException, MetadataUnavailableException {
    QueryParameters parameters = call.parameters();
    refuseUnsupported(parameters);
    String arn = parameters.text("RoleArn", 20, 2048, ANY);
    String name = parameters.text("RoleSessionName", 2, 64, SESSION_NAME);
    Optional<String> externalId = parameters.optionalText("ExternalId", 2, 1224, EXTERNAL_ID);
    int seconds = parameters.number("DurationSeconds", SECONDS_MIN, SECONDS_MAX, SECONDS_DEFAULT);
    List<IdentityTag> tags = Tags.of(parameters);
    // Whether the role exists is not told to those who may not assume it.
    IdentityRow role = role(arn).orElseThrow(() -> call.denied(arn));
    requireTrust(call, role, facts(name, externalId, tags), !tags.isEmpty());
    checkDuration(call, role, seconds);
    List<String> limits = new SessionLimits(identities, role.getAccount()).read(parameters);
    Issued issued =
        issuer.issue(
            role.getAccount(),
            PrincipalQuery.newBuilder()
                .setAccount(role.getAccount())
                .setIdentityId(role.getId())
                .build(),
            new Terms(name, call.now(), Duration.ofSeconds(seconds), limits, tags));
    issued.write(out);
    out.open("AssumedRoleUser")
        .element("AssumedRoleId", role.getId() + ":" + name)
        .element("Arn", Arns.ofSession(role, name))
        .close()
        .element("PackedPolicySize", issued.packedPercent());
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

  private Optional<IdentityRow> role(String arn)
      throws QueryException, MetadataUnavailableException {
    Optional<Arns.Name> name =
        Arns.parse(arn).filter(parsed -> parsed.kind() == IdentityKind.IDENTITY_ROLE);
    if (name.isEmpty()) {
      throw new QueryException(QueryError.VALIDATION_ERROR, arn + " is invalid");
    }
    return identities
        .identity(name.get().account(), IdentityKind.IDENTITY_ROLE, name.get().name())
        .filter(role -> Arns.of(role).equals(arn));
  }

  private static Map<String, List<String>> facts(
      String name, Optional<String> externalId, List<IdentityTag> tags) {
    Map<String, List<String>> facts = new HashMap<>();
    facts.put("sts:rolesessionname", List.of(name));
    externalId.ifPresent(id -> facts.put("sts:externalid", List.of(id)));
    if (!tags.isEmpty()) {
      facts.put("aws:tagkeys", tags.stream().map(IdentityTag::getKey).toList());
      tags.forEach(
          tag ->
              facts.put(
                  "aws:requesttag/" + tag.getKey().toLowerCase(Locale.ROOT),
                  List.of(tag.getValue())));
    }
    return facts;
  }

  private static void requireTrust(
      QueryCall call, IdentityRow role, Map<String, List<String>> facts, boolean hasTags)
      throws QueryException {
    Policy trust = Documents.parse(role.getTrustPolicy(), PolicyKind.trust());
    List<String> actions =
        hasTags ? List.of("sts:AssumeRole", "sts:TagSession") : List.of("sts:AssumeRole");
    for (String action : actions) {
      AccessRequest request =
          new AccessRequest(call.caller().requester(), action, Arns.of(role), call.facts(facts));
      boolean isAllowed =
          Authorization.decideAssumeRole(
                  request, call.caller().policies(), role.getAccount(), trust)
              .isAllowed();
      if (!isAllowed) {
        throw call.denied(Arns.of(role));
      }
    }
  }

  private static void checkDuration(QueryCall call, IdentityRow role, int seconds)
      throws QueryException {
    if (seconds > role.getMaxSessionSeconds()) {
      throw new QueryException(
          QueryError.VALIDATION_ERROR,
          "The requested DurationSeconds exceeds the MaxSessionDuration set for this role.");
    }
    if (call.caller().requester() instanceof Requester.RoleSession
        && seconds > CHAINED_SECONDS_MAX) {
      throw new QueryException(
          QueryError.VALIDATION_ERROR,
          "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by"
              + " role chaining");
    }
  }
}
