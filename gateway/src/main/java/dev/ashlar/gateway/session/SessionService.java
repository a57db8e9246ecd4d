package dev.ashlar.gateway.session;

import dev.ashlar.gateway.federation.ProviderKeys;
import dev.ashlar.gateway.principal.Principal;
import dev.ashlar.gateway.query.QueryCall;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.gateway.query.QueryHandler;
import dev.ashlar.gateway.query.UnsignedCall;
import dev.ashlar.gateway.session.SessionIssuer.Terms;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.PrincipalQuery;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** STS: who the caller is, and credentials for a while. */
public final class SessionService implements QueryHandler {
  private static final String WEB_IDENTITY = "AssumeRoleWithWebIdentity";
  private static final int SECONDS_MIN = 900;
  private static final int SECONDS_MAX = 129_600;
  private static final int SECONDS_DEFAULT = 43_200;
  private static final int ROOT_SECONDS_MAX = 3600;

  private final SessionIssuer issuer;
  private final AssumeRole assumeRole;
  private final AssumeRoleWithWebIdentity webIdentity;

  public SessionService(MetadataClient metadata, ProviderKeys keys, SecureRandom random) {
    this.issuer = new SessionIssuer(metadata, random);
    this.assumeRole = new AssumeRole(metadata, issuer);
    this.webIdentity = new AssumeRoleWithWebIdentity(metadata, issuer, keys);
  }

  /** The names of all actions that are served. */
  public static Set<String> actionNames() {
    return Set.of("GetCallerIdentity", "AssumeRole", WEB_IDENTITY, "GetSessionToken");
  }

  @Override
  public void handle(QueryCall call, XmlWriter result)
      throws QueryException, MetadataUnavailableException {
    switch (call.action()) {
      case "GetCallerIdentity" -> callerIdentity(call.caller(), result);
      case "AssumeRole" -> assumeRole.handle(call, result);
      case "GetSessionToken" -> sessionToken(call, result);
      case "GetFederationToken" -> throw notImplemented(call.action());
      default ->
          throw new QueryException(
              QueryError.INVALID_ACTION, "The action " + call.action() + " is not served.");
    }
  }

  @Override
  public boolean isUnsigned(String action) {
    return action.equals(WEB_IDENTITY) || action.equals("AssumeRoleWithSAML");
  }

  @Override
  public void handleUnsigned(UnsignedCall call, XmlWriter result)
      throws QueryException, MetadataUnavailableException {
    if (!call.action().equals(WEB_IDENTITY)) {
      throw notImplemented(call.action());
    }
    webIdentity.handle(call, result);
  }

  private static QueryException notImplemented(String action) {
    return new QueryException(
        QueryError.NOT_IMPLEMENTED, "The action " + action + " is not supported.");
  }

  /** Nobody needs a right to this. */
  private static void callerIdentity(Principal caller, XmlWriter out) {
    out.element("Arn", caller.arn())
        .element("UserId", caller.userId())
        .element("Account", caller.accountId());
  }

  /**
   * A session of the user or root that signs. It ends with the access key that it was made with.
   * Policies cannot forbid it, as in AWS: it gives no right that its caller does not have.
   */
  private void sessionToken(QueryCall call, XmlWriter out)
      throws QueryException, MetadataUnavailableException {
    Principal caller = call.caller();
    if (caller.session() != null) {
      throw new QueryException(
          QueryError.ACCESS_DENIED, "Cannot call GetSessionToken with session credentials");
    }
    if (call.parameters().optional("SerialNumber").isPresent()
        || call.parameters().optional("TokenCode").isPresent()) {
      throw new QueryException(
          QueryError.ACCESS_DENIED,
          "MultiFactorAuthentication failed with invalid MFA one time pass code.");
    }
    int seconds =
        call.parameters().number("DurationSeconds", SECONDS_MIN, SECONDS_MAX, SECONDS_DEFAULT);
    if (caller.isRoot()) {
      seconds = Math.min(seconds, ROOT_SECONDS_MAX);
    }
    issuer
        .issue(
            caller.accountId(),
            PrincipalQuery.newBuilder().setAccessKey(caller.accessKey()).build(),
            new Terms("", call.now(), Duration.ofSeconds(seconds), List.of(), List.of()))
        .write(out);
  }
}
