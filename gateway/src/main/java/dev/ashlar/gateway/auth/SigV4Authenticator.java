package dev.ashlar.gateway.auth;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.checksum.Digests;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.AmzHeaderNames;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.form.PostForm;
import dev.ashlar.gateway.form.PostPolicy;
import dev.ashlar.gateway.principal.Principal;
import dev.ashlar.gateway.principal.Principals;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.PrincipalAnswer;
import dev.ashlar.protocol.message.PrincipalQuery;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * AWS Signature Version 4 for S3 ("Authenticating Requests (AWS Signature Version 4)", Amazon S3
 * API Reference): in the Authorization header, in the query of presigned URLs, and in the chunks of
 * streamed payloads.
 */
public final class SigV4Authenticator implements Authenticator {
  /** Finds the secret and the owner behind an access key. */
  @FunctionalInterface
  public interface CredentialLookup {
    Optional<CredentialRow> credential(String accessKey) throws MetadataUnavailableException;
  }

  static final String ALGORITHM = "AWS4-HMAC-SHA256";
  static final Duration SKEW_MAX = Duration.ofMinutes(15);

  /** In place of a region: requests may be signed for each. */
  public static final String ANY_REGION = ScopeRules.ANY_REGION;

  /** Who may sign, and the secret for that. */
  record Signer(String secretKey, Caller caller) {}

  private final CredentialLookup owners;
  private final @Nullable Principals principals;
  private final String region;
  private final Clock clock;
  private final FailedAttempts attempts;
  private final SigningKeys keys = new SigningKeys();

  /**
   * @param owners finds credentials that nothing limits
   */
  public SigV4Authenticator(CredentialLookup owners, String region, Clock clock) {
    this(owners, null, region, clock, FailedAttempts.unlimited());
  }

  /**
   * @param owners finds credentials that nothing limits; asked first
   * @param principals finds all others, and sessions; null: there are none
   * @param attempts limits those that fail
   */
  public SigV4Authenticator(
      CredentialLookup owners,
      @Nullable Principals principals,
      String region,
      Clock clock,
      FailedAttempts attempts) {
    this.owners = owners;
    this.principals = principals;
    this.region = region;
    this.clock = clock;
    this.attempts = attempts;
  }

  @Override
  public AuthenticatedRequest authenticate(HttpExchange exchange) throws S3Exception {
    SignedQuery query = SignedQuery.parse(exchange.rawQuery());
    SignatureClaim claim = claim(exchange, query);
    if (claim == null) {
      return anonymous(exchange, query);
    }
    FailedAttempts.Attempt attempt = attempts.begin(exchange.client(), claim.scope().accessKey());
    try {
      AuthenticatedRequest request = authenticate(exchange, query, claim, attempt);
      if (request.caller().confirmation() == null) {
        attempt.succeeded();
      }
      return request;
    } catch (S3Exception e) {
      throw attempt.ended(e);
    }
  }

  private AuthenticatedRequest authenticate(
      HttpExchange exchange,
      SignedQuery query,
      SignatureClaim claim,
      FailedAttempts.Attempt attempt)
      throws S3Exception {
    checkSigned(exchange.headers(), claim.signedHeaders());
    String token = token(exchange, query.get("X-Amz-Security-Token"), claim.presigned());
    Signer signer = remembered(exchange, claim, token, attempt);
    SigningKeys.HmacKey key = signer == null ? null : keys.get(signer.secretKey(), claim.scope());
    if (signer == null || key == null || !isSigned(exchange, query, claim, key)) {
      // The secret may be another one by now.
      signer = signer(exchange, claim.scope().accessKey(), token);
      key = keys.get(signer.secretKey(), claim.scope());
      checkSignature(exchange, query, claim, key);
    }
    SigningKeys.HmacKey signing = key;
    PayloadBodies payloads =
        new PayloadBodies(
            exchange, query, claim.payloadHash(), () -> new ChunkSignatures(signing, claim));
    return new AuthenticatedRequest(signer.caller(), payloads.open());
  }

  @Override
  public AuthenticatedRequest authenticateForm(PostForm form) throws S3Exception {
    SignedQuery query = SignedQuery.parse(form.rawQuery());
    if (!FormSignature.isIn(form)) {
      return anonymous(form, query);
    }
    FormSignature signature = FormSignature.of(form, region, clock.instant());
    String accessKey = signature.scope().accessKey();
    FailedAttempts.Attempt attempt = attempts.begin(form.client(), accessKey);
    try {
      Signer signer = signer(form, accessKey, form.field("x-amz-security-token"));
      signature.check(keys.get(signer.secretKey(), signature.scope()));
      attempt.succeeded();
      return allowed(form, signature.policy(), signer);
    } catch (S3Exception e) {
      throw attempt.ended(e);
    }
  }

  /** A form whose policy is signed, if that allows it. */
  AuthenticatedRequest allowed(PostForm form, String policy, Signer signer) throws S3Exception {
    PostPolicy.parse(policy).require(form, clock.instant());
    PayloadBodies payloads =
        new PayloadBodies(form, SignedQuery.parse(form.rawQuery()), PayloadBodies.UNSIGNED, null);
    return new AuthenticatedRequest(signer.caller(), payloads.open());
  }

  /** Who signs as far as that is known without a read; null if it is not. */
  private @Nullable Signer remembered(
      HttpExchange exchange,
      SignatureClaim claim,
      @Nullable String token,
      FailedAttempts.Attempt attempt) {
    if (principals == null) {
      return null;
    }
    return principals
        .remembered(claim.scope().accessKey(), token)
        .map(known -> signer(exchange, known, attempt))
        .orElse(null);
  }

  private Signer signer(
      HttpExchange exchange, Principals.Remembered known, FailedAttempts.Attempt attempt) {
    String secretKey = known.signer().secretKey();
    Caller.Confirmation confirmation =
        new Caller.Confirmation() {
          @Override
          public PrincipalQuery query() {
            return known.query();
          }

          @Override
          public Caller confirmed(PrincipalAnswer answer) throws S3Exception {
            try {
              Caller now = now(answer);
              attempt.succeeded();
              return now;
            } catch (S3Exception e) {
              throw attempt.ended(e);
            }
          }

          private Caller now(PrincipalAnswer answer) throws S3Exception {
            String accessKey = known.signer().principal().accessKey();
            Signer now;
            try {
              now = signer(exchange, accessKey, known.confirmed(answer));
            } catch (MetadataUnavailableException e) {
              throw new S3Exception(S3Error.SERVICE_UNAVAILABLE, e);
            }
            if (!now.secretKey().equals(secretKey)) {
              throw new S3Exception(S3Error.SIGNATURE_DOES_NOT_MATCH)
                  .with("AWSAccessKeyId", accessKey);
            }
            return now.caller();
          }
        };
    return new Signer(secretKey, caller(exchange, known.signer().principal(), confirmation));
  }

  /** A request without any sign of a signature. */
  private AuthenticatedRequest anonymous(HttpExchange exchange, SignedQuery query)
      throws S3Exception {
    if (exchange.headers().contains(AmzHeaderNames.SECURITY_TOKEN)
        || query.has("X-Amz-Security-Token")) {
      throw new S3Exception(S3Error.ACCESS_DENIED);
    }
    String hash = exchange.headers().get(AmzHeaderNames.CONTENT_SHA256, PayloadBodies.UNSIGNED);
    PayloadBodies payloads = new PayloadBodies(exchange, query, hash, null);
    return new AuthenticatedRequest(
        Caller.anonymous(S3Facts.of(exchange, null, clock.instant())), payloads.open());
  }

  /** Null: there is no signature. */
  private @Nullable SignatureClaim claim(HttpExchange exchange, SignedQuery query)
      throws S3Exception {
    String authorization = exchange.headers().get(HttpHeaderNames.AUTHORIZATION);
    boolean presigned = query.has("X-Amz-Algorithm");
    if (authorization != null && presigned) {
      throw severalMechanisms();
    }
    Instant now = clock.instant();
    if (authorization != null) {
      SignatureClaim claim = AuthorizationHeader.parse(authorization, exchange.headers(), region);
      checkSkew(claim.timestamp(), now);
      return claim;
    }
    if (presigned || query.has("X-Amz-Signature") || query.has("X-Amz-Credential")) {
      return PresignedQuery.parse(query, exchange.headers(), region, now, SKEW_MAX);
    }
    if (query.has("AWSAccessKeyId")) {
      throw AuthorizationHeader.oldSignature();
    }
    return null;
  }

  static S3Exception severalMechanisms() {
    return new S3Exception(
        S3Error.INVALID_ARGUMENT,
        "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature"
            + " query string parameter or the Authorization header should be specified");
  }

  static void checkSkew(String timestamp, Instant now) throws S3Exception {
    Instant signed = Timestamps.parse(timestamp);
    if (signed == null) {
      throw new S3Exception(
          S3Error.ACCESS_DENIED, "AWS authentication requires a valid Date or x-amz-date header");
    }
    if (Duration.between(signed, now).abs().compareTo(SKEW_MAX) > 0) {
      throw new S3Exception(S3Error.REQUEST_TIME_TOO_SKEWED)
          .with("RequestTime", timestamp)
          .with("ServerTime", now.toString())
          .with("MaxAllowedSkewMilliseconds", SKEW_MAX.toMillis());
    }
  }

  /** The session token, which is where the signature is; null without one. */
  static @Nullable String token(HttpExchange exchange, @Nullable String inQuery, boolean presigned)
      throws S3Exception {
    String inHeader = exchange.headers().get(AmzHeaderNames.SECURITY_TOKEN);
    boolean isMisplaced = presigned ? inHeader != null : inQuery != null;
    if (isMisplaced || exchange.headers().getAll(AmzHeaderNames.SECURITY_TOKEN).size() > 1) {
      throw new S3Exception(S3Error.INVALID_TOKEN);
    }
    return presigned ? inQuery : inHeader;
  }

  /** Requires that host and all x-amz- headers are signed: they change what a request means. */
  static void checkSigned(HttpHeaders headers, String[] signed) throws S3Exception {
    StringBuilder missing = new StringBuilder();
    if (!contains(signed, "host")) {
      missing.append("host");
    }
    Iterator<Map.Entry<CharSequence, CharSequence>> each = headers.iteratorCharSequence();
    while (each.hasNext()) {
      CharSequence name = each.next().getKey();
      if (isAmazon(name) && !contains(signed, name)) {
        missing.append(missing.isEmpty() ? "" : ", ").append(name);
      }
    }
    if (!missing.isEmpty()) {
      throw new S3Exception(
              S3Error.ACCESS_DENIED,
              "There were headers present in the request which were not signed")
          .with("HeadersNotSigned", missing.toString());
    }
  }

  private static boolean isAmazon(CharSequence name) {
    return name.length() > 6
        && (name.charAt(0) | 0x20) == 'x'
        && name.toString().regionMatches(true, 0, "x-amz-", 0, 6);
  }

  private static boolean contains(String[] signed, CharSequence name) {
    for (String candidate : signed) {
      if (candidate.length() == name.length() && candidate.equalsIgnoreCase(name.toString())) {
        return true;
      }
    }
    return false;
  }

  /**
   * @throws S3Exception InvalidAccessKeyId, InvalidToken or ExpiredToken
   */
  Signer signer(HttpExchange exchange, String accessKey, @Nullable String token)
      throws S3Exception {
    try {
      if (token == null) {
        Optional<CredentialRow> owner = owners.credential(accessKey);
        if (owner.isPresent()) {
          Principal root =
              Principal.root(accessKey, owner.get().getAccount(), owner.get().getOwner());
          return new Signer(owner.get().getSecretKey(), caller(exchange, root, null));
        }
      }
      return principal(exchange, accessKey, token);
    } catch (MetadataUnavailableException e) {
      throw new S3Exception(S3Error.SERVICE_UNAVAILABLE, e);
    }
  }

  private Signer principal(HttpExchange exchange, String accessKey, @Nullable String token)
      throws S3Exception, MetadataUnavailableException {
    Principals.Found found =
        principals == null
            ? new Principals.Found.Nobody(
                token == null ? Principals.Fault.UNKNOWN_KEY : Principals.Fault.INVALID_TOKEN)
            : principals.find(accessKey, token);
    return signer(exchange, accessKey, found);
  }

  private Signer signer(HttpExchange exchange, String accessKey, Principals.Found found)
      throws S3Exception {
    return switch (found) {
      case Principals.Found.Signer(Principal principal, String secretKey) ->
          new Signer(secretKey, caller(exchange, principal, null));
      case Principals.Found.Nobody nobody ->
          throw switch (nobody.fault()) {
            case UNKNOWN_KEY ->
                new S3Exception(S3Error.INVALID_ACCESS_KEY_ID).with("AWSAccessKeyId", accessKey);
            case INVALID_TOKEN -> new S3Exception(S3Error.INVALID_TOKEN);
            case EXPIRED_TOKEN -> new S3Exception(S3Error.EXPIRED_TOKEN);
          };
    };
  }

  private Caller caller(
      HttpExchange exchange, Principal principal, Caller.@Nullable Confirmation confirmation) {
    return Caller.of(principal, S3Facts.of(exchange, principal, clock.instant()), confirmation);
  }

  static void checkSignature(
      HttpExchange exchange, SignedQuery query, SignatureClaim claim, SigningKeys.HmacKey key)
      throws S3Exception {
    String canonical = CanonicalRequest.of(exchange, query, claim);
    String toSign = toSign(claim, canonical);
    if (!isSigned(claim, toSign, key)) {
      throw mismatch(claim, canonical, toSign);
    }
  }

  private static boolean isSigned(
      HttpExchange exchange, SignedQuery query, SignatureClaim claim, SigningKeys.HmacKey key)
      throws S3Exception {
    return isSigned(claim, toSign(claim, CanonicalRequest.of(exchange, query, claim)), key);
  }

  private static String toSign(SignatureClaim claim, String canonical) {
    return ALGORITHM
        + '\n'
        + claim.timestamp()
        + '\n'
        + claim.scope().text()
        + '\n'
        + Digests.sha256Hex(canonical.getBytes(ISO_8859_1));
  }

  private static boolean isSigned(SignatureClaim claim, String toSign, SigningKeys.HmacKey key) {
    byte[] expected = key.sign(toSign.getBytes(ISO_8859_1));
    byte[] expectedHex = HexFormat.of().formatHex(expected).getBytes(ISO_8859_1);
    return MessageDigest.isEqual(expectedHex, claim.signature().getBytes(ISO_8859_1));
  }

  private static S3Exception mismatch(SignatureClaim claim, String canonical, String toSign) {
    HexFormat spaced = HexFormat.ofDelimiter(" ");
    return new S3Exception(S3Error.SIGNATURE_DOES_NOT_MATCH)
        .with("AWSAccessKeyId", claim.scope().accessKey())
        .with("StringToSign", toSign)
        .with("SignatureProvided", claim.signature())
        .with("StringToSignBytes", spaced.formatHex(toSign.getBytes(ISO_8859_1)))
        .with("CanonicalRequest", canonical)
        .with("CanonicalRequestBytes", spaced.formatHex(canonical.getBytes(ISO_8859_1)));
  }
}
