package dev.ashlar.gateway.session;

import dev.ashlar.gateway.access.policy.AccessRequest;
import dev.ashlar.gateway.access.policy.Policy;
import dev.ashlar.gateway.access.policy.PolicyKind;
import dev.ashlar.gateway.access.policy.Requester;
import dev.ashlar.gateway.access.policy.decision.Authorization;
import dev.ashlar.gateway.access.policy.decision.Decision;
import dev.ashlar.gateway.access.policy.decision.IdentityPolicies;
import dev.ashlar.gateway.access.policy.value.ConditionContext;
import dev.ashlar.gateway.federation.InvalidTokenException;
import dev.ashlar.gateway.federation.OpenIdToken;
import dev.ashlar.gateway.federation.Provider;
import dev.ashlar.gateway.federation.ProviderKeys;
import dev.ashlar.gateway.federation.WebIdentity;
import dev.ashlar.gateway.iam.Documents;
import dev.ashlar.gateway.iam.Tags;
import dev.ashlar.gateway.principal.Arns;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.gateway.query.QueryParameters;
import dev.ashlar.gateway.query.UnsignedCall;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.IdentityClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.IdentityTag;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** A session of a role for the bearer of a token of an OpenID Connect provider. */
record AssumeRoleWithWebIdentity(
    IdentityClient identities, SessionIssuer issuer, ProviderKeys keys) {
  private static final String ACTION = "sts:AssumeRoleWithWebIdentity";
  private static final Pattern TOKEN = Pattern.compile("[!-\\x7E]+");

  void handle(UnsignedCall call, XmlWriter out)
      throws QueryException, MetadataUnavailableException {
    QueryParameters parameters = call.parameters();
    RoleSession session = RoleSession.of(parameters);
    String text = parameters.text("WebIdentityToken", 4, 20_000, TOKEN);
    if (parameters.optional("ProviderId").isPresent()) {
      throw new QueryException(
          QueryError.VALIDATION_ERROR, "ProviderId is for OAuth 2.0 access tokens only.");
    }
    WebIdentity identity = verified(call, session.roleName().account(), text);
    // Whether the role exists is not told to those who may not assume it.
    IdentityRow role = session.role(identities).orElseThrow(AssumeRoleWithWebIdentity::denied);
    List<IdentityTag> tags = tags(identity);
    requireTrust(call, session, role, identity, tags);
    session.checkDuration(role);
    List<String> limits = new SessionLimits(identities, role.getAccount()).read(parameters);
    session.begin(issuer, role, call.connection().now(), limits, tags, out);
    out.element("SubjectFromWebIdentityToken", identity.subject())
        .element("Audience", identity.client())
        .element("Provider", arn(role, identity.provider()));
  }

  private WebIdentity verified(UnsignedCall call, String account, String text)
      throws QueryException, MetadataUnavailableException {
    try {
      OpenIdToken token = OpenIdToken.parse(text);
      IdentityRow row =
          identities
              .identity(account, IdentityKind.IDENTITY_PROVIDER, token.providerName())
              .orElseThrow(
                  () ->
                      new QueryException(
                          QueryError.INVALID_IDENTITY_TOKEN,
                          "No OpenIDConnect provider found in your account for https://"
                              + token.providerName()));
      Provider provider =
          new Provider(row.getName(), row.getClientIdsList(), row.getThumbprintsList());
      return token.verify(provider, keys, call.connection().now());
    } catch (InvalidTokenException e) {
      QueryError error =
          e.isExpired() ? QueryError.EXPIRED_TOKEN_EXCEPTION : QueryError.INVALID_IDENTITY_TOKEN;
      throw new QueryException(error, String.valueOf(e.getMessage()), e);
    }
  }

  private static List<IdentityTag> tags(WebIdentity identity) throws QueryException {
    return Tags.checked(
        identity.tags().entrySet().stream()
            .map(tag -> Tags.of(tag.getKey(), tag.getValue()))
            .toList());
  }

  private static void requireTrust(
      UnsignedCall call,
      RoleSession session,
      IdentityRow role,
      WebIdentity identity,
      List<IdentityTag> tags)
      throws QueryException {
    Map<String, List<String>> ofToken = TrustFacts.of(session, role, tags);
    ofToken.putAll(identity.facts());
    ofToken.put("aws:federatedprovider", List.of(arn(role, identity.provider())));
    ConditionContext facts =
        key -> {
          List<String> values = ofToken.get(key);
          return values == null ? call.connection().values(key) : values;
        };
    Requester bearer = new Requester.Federated(arn(role, identity.provider()));
    Policy trust = Documents.parse(role.getTrustPolicy(), PolicyKind.trust());
    for (String action : TrustFacts.actions(ACTION, tags)) {
      Decision decision =
          Authorization.decideAssumeRole(
              new AccessRequest(bearer, action, Arns.of(role), facts),
              IdentityPolicies.NONE,
              role.getAccount(),
              trust);
      if (!decision.isAllowed()) {
        throw denied().deniedBy(decision.why());
      }
    }
  }

  private static String arn(IdentityRow role, Provider provider) {
    return Arns.of(role.getAccount(), IdentityKind.IDENTITY_PROVIDER, "/", provider.name());
  }

  private static QueryException denied() {
    return new QueryException(QueryError.ACCESS_DENIED, "Not authorized to perform " + ACTION);
  }
}
