package dev.ashlar.gateway.auth;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.AmzHeaderNames;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.form.PostForm;
import dev.ashlar.gateway.s3.VirtualHosts;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Clock;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Accepts AWS Signature Version 2 besides version 4, for clients that know no other. It does not
 * cover the payload and relies on HMAC-SHA1.
 */
public final class SigV2Authenticator implements Authenticator {
  private static final String TOKEN = "x-amz-security-token";
  private static final String HMAC = "HmacSHA1";

  private final SigV4Authenticator version4;
  private final VirtualHosts hosts;
  private final Clock clock;
  private final FailedAttempts attempts;

  /**
   * @param version4 authenticates the requests that are not signed with version 2
   * @param attempts limits those that fail
   */
  public SigV2Authenticator(
      SigV4Authenticator version4, VirtualHosts hosts, Clock clock, FailedAttempts attempts) {
    this.version4 = version4;
    this.hosts = hosts;
    this.clock = clock;
    this.attempts = attempts;
  }

  @Override
  public AuthenticatedRequest authenticate(HttpExchange exchange) throws S3Exception {
    SignedQuery query = SignedQuery.parse(exchange.rawQuery());
    SigV2Claim claim = SigV2Claim.of(exchange.headers(), query, clock.instant());
    if (claim == null) {
      return version4.authenticate(exchange);
    }
    FailedAttempts.Attempt attempt = attempts.begin(exchange.client(), claim.accessKey());
    try {
      AuthenticatedRequest request = authenticate(exchange, query, claim);
      attempt.succeeded();
      return request;
    } catch (S3Exception e) {
      throw attempt.ended(e);
    }
  }

  private AuthenticatedRequest authenticate(
      HttpExchange exchange, SignedQuery query, SigV2Claim claim) throws S3Exception {
    String token = SigV4Authenticator.token(exchange, query.get(TOKEN), claim.presigned());
    SigV4Authenticator.Signer signer = version4.signer(exchange, claim.accessKey(), token);
    List<String> texts =
        new SigV2StringToSign(exchange, query, claim, hosts.bucket(exchange.headers())).texts();
    checkSignature(claim, texts, signer.secretKey());
    PayloadBodies payloads = new PayloadBodies(exchange, query, payloadHash(exchange), null);
    return new AuthenticatedRequest(signer.caller(), payloads.open());
  }

  @Override
  public AuthenticatedRequest authenticateForm(PostForm form) throws S3Exception {
    if (FormSignature.isVersion4(form) || !FormSignature.isIn(form)) {
      return version4.authenticateForm(form);
    }
    String accessKey = form.requiredField("awsaccesskeyid");
    String policy = form.requiredField("policy");
    String signature = form.requiredField("signature");
    FailedAttempts.Attempt attempt = attempts.begin(form.client(), accessKey);
    try {
      SigV4Authenticator.Signer signer =
          version4.signer(form, accessKey, form.field("x-amz-security-token"));
      if (!isSignature(signature, policy.getBytes(UTF_8), signer.secretKey())) {
        throw FormSignature.mismatch(accessKey, policy, signature);
      }
      attempt.succeeded();
      return version4.allowed(form, policy, signer);
    } catch (S3Exception e) {
      throw attempt.ended(e);
    }
  }

  private static boolean isSignature(String signature, byte[] message, String secretKey) {
    byte[] expected = Base64.getEncoder().encode(hmac(secretKey, message));
    return MessageDigest.isEqual(expected, signature.getBytes(UTF_8));
  }

  private static String payloadHash(HttpExchange exchange) {
    @Nullable String hash = exchange.headers().get(AmzHeaderNames.CONTENT_SHA256);
    return hash == null ? PayloadBodies.UNSIGNED : hash;
  }

  private static void checkSignature(SigV2Claim claim, List<String> texts, String secretKey)
      throws S3Exception {
    for (String text : texts) {
      if (isSignature(claim.signature(), text.getBytes(ISO_8859_1), secretKey)) {
        return;
      }
    }
    String first = texts.getFirst();
    throw new S3Exception(S3Error.SIGNATURE_DOES_NOT_MATCH)
        .with("AWSAccessKeyId", claim.accessKey())
        .with("StringToSign", first)
        .with("SignatureProvided", claim.signature())
        .with(
            "StringToSignBytes", HexFormat.ofDelimiter(" ").formatHex(first.getBytes(ISO_8859_1)));
  }

  private static byte[] hmac(String secretKey, byte[] message) {
    try {
      Mac mac = Mac.getInstance(HMAC);
      mac.init(new SecretKeySpec(secretKey.getBytes(UTF_8), HMAC));
      return mac.doFinal(message);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(HMAC + " is part of every Java platform", e);
    }
  }
}
