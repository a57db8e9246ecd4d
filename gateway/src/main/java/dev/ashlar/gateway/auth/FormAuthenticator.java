package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.checksum.Digests;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.AmzHeaderNames;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.principal.Principal;
import dev.ashlar.gateway.principal.Principals;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.time.Clock;
import org.jspecify.annotations.Nullable;

/**
 * Authenticates requests of services other than S3, whose whole body is in memory: AWS Signature
 * Version 4 in the Authorization header, over the hash of the body.
 */
public final class FormAuthenticator {
  private final Principals principals;
  private final String region;
  private final Clock clock;
  private final FailedAttempts attempts;
  private final SigningKeys keys = new SigningKeys();

  /**
   * @param attempts limits those that fail
   */
  public FormAuthenticator(
      Principals principals, String region, Clock clock, FailedAttempts attempts) {
    this.principals = principals;
    this.region = region;
    this.clock = clock;
    this.attempts = attempts;
  }

  /**
   * @param service that the signature has to be for, such as iam
   * @throws S3Exception AccessDenied without a signature, InvalidAccessKeyId, InvalidToken,
   *     ExpiredToken, SignatureDoesNotMatch, RequestTimeTooSkewed, SlowDown after too many failed
   *     attempts, or that it is malformed
   */
  public Principal authenticate(HttpExchange exchange, byte[] body, String service)
      throws S3Exception {
    String authorization = exchange.headers().get(HttpHeaderNames.AUTHORIZATION);
    if (authorization == null) {
      throw new S3Exception(S3Error.ACCESS_DENIED);
    }
    SignatureClaim claim =
        AuthorizationHeader.parse(
            authorization,
            exchange.headers(),
            new ScopeRules(region, service, true),
            Digests.sha256Hex(body));
    SigV4Authenticator.checkSkew(claim.timestamp(), clock.instant());
    SigV4Authenticator.checkSigned(exchange.headers(), claim.signedHeaders());
    FailedAttempts.Attempt attempt = attempts.begin(exchange.client(), claim.scope().accessKey());
    try {
      Principal principal = authenticate(exchange, claim);
      attempt.succeeded();
      return principal;
    } catch (S3Exception e) {
      throw attempt.ended(e);
    }
  }

  private Principal authenticate(HttpExchange exchange, SignatureClaim claim) throws S3Exception {
    Principals.Found.Signer signer =
        signer(claim.scope().accessKey(), exchange.headers().get(AmzHeaderNames.SECURITY_TOKEN));
    SigningKeys.HmacKey key = keys.get(signer.secretKey(), claim.scope());
    SigV4Authenticator.checkSignature(exchange, SignedQuery.parse(exchange.rawQuery()), claim, key);
    return signer.principal();
  }

  private Principals.Found.Signer signer(String accessKey, @Nullable String token)
      throws S3Exception {
    try {
      return switch (principals.find(accessKey, token)) {
        case Principals.Found.Signer signer -> signer;
        case Principals.Found.Nobody nobody -> throw new S3Exception(error(nobody.fault()));
      };
    } catch (MetadataUnavailableException e) {
      throw new S3Exception(S3Error.SERVICE_UNAVAILABLE, e);
    }
  }

  private static S3Error error(Principals.Fault fault) {
    return switch (fault) {
      case UNKNOWN_KEY -> S3Error.INVALID_ACCESS_KEY_ID;
      case INVALID_TOKEN -> S3Error.INVALID_TOKEN;
      case EXPIRED_TOKEN -> S3Error.EXPIRED_TOKEN;
    };
  }
}
