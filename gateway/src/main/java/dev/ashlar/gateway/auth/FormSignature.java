package dev.ashlar.gateway.auth;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.form.PostForm;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;

/**
 * The signature of version 4 in the fields of a form ("Authenticating requests in browser-based
 * uploads using POST", Amazon S3 API Reference). It covers the policy, which decides about the
 * other fields.
 */
record FormSignature(SignatureClaim.CredentialScope scope, String policy, String signature) {
  private static final String PREFIX = "Error parsing the X-Amz-Credential parameter; ";

  /** For how long a key for signatures is good. */
  private static final Duration AGE_MAX = Duration.ofDays(7);

  /** Whether a form has any field of a signature: otherwise its sender is anonymous. */
  static boolean isIn(PostForm form) {
    return isVersion4(form)
        || form.field("policy") != null
        || form.field("signature") != null
        || form.field("awsaccesskeyid") != null
        || form.field("x-amz-security-token") != null;
  }

  static boolean isVersion4(PostForm form) {
    return form.field("x-amz-algorithm") != null
        || form.field("x-amz-credential") != null
        || form.field("x-amz-signature") != null;
  }

  /**
   * @throws S3Exception if fields are missing, or the signature is malformed or not valid now
   */
  static FormSignature of(PostForm form, String region, Instant now) throws S3Exception {
    String policy = form.requiredField("policy");
    if (!isVersion4(form)) {
      form.requiredField("awsaccesskeyid");
      throw AuthorizationHeader.oldSignature();
    }
    PresignedQuery.checkAlgorithm(form.requiredField("x-amz-algorithm"));
    SignatureClaim.CredentialScope scope =
        SignatureClaim.CredentialScope.parse(
            form.requiredField("x-amz-credential"),
            ScopeRules.ofS3(region),
            S3Error.AUTHORIZATION_QUERY_PARAMETERS_ERROR,
            PREFIX);
    checkDate(form.requiredField("x-amz-date"), scope, now);
    return new FormSignature(scope, policy, form.requiredField("x-amz-signature"));
  }

  private static void checkDate(String date, SignatureClaim.CredentialScope scope, Instant now)
      throws S3Exception {
    Instant signed = PresignedQuery.time(date);
    scope.requireDay(date, S3Error.AUTHORIZATION_QUERY_PARAMETERS_ERROR, PREFIX);
    if (signed.isAfter(now.plus(SigV4Authenticator.SKEW_MAX))) {
      throw new S3Exception(S3Error.ACCESS_DENIED, "Request is not valid yet");
    }
    if (signed.isBefore(now.minus(AGE_MAX))) {
      throw new S3Exception(S3Error.ACCESS_DENIED, "Request has expired");
    }
  }

  void check(SigningKeys.HmacKey key) throws S3Exception {
    byte[] expected = HexFormat.of().formatHex(key.sign(policy.getBytes(UTF_8))).getBytes(UTF_8);
    if (!MessageDigest.isEqual(expected, signature.getBytes(UTF_8))) {
      throw mismatch(scope.accessKey(), policy, signature);
    }
  }

  static S3Exception mismatch(String accessKey, String policy, String signature) {
    return new S3Exception(S3Error.SIGNATURE_DOES_NOT_MATCH)
        .with("AWSAccessKeyId", accessKey)
        .with("StringToSign", policy)
        .with("SignatureProvided", signature);
  }
}
