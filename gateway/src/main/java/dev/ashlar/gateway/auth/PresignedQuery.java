package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.AmzHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The signature of a presigned URL, in its query and valid until it expires. */
final class PresignedQuery {
  private static final String PREFIX = "Error parsing the X-Amz-Credential parameter; ";
  private static final long EXPIRES_SECONDS_MAX = 604_800;
  private static final int EXPIRES_DIGITS_MAX = 18;

  private PresignedQuery() {}

  static SignatureClaim parse(
      SignedQuery query, HttpHeaders headers, String region, Instant now, Duration skewMax)
      throws S3Exception {
    String algorithm = query.get("X-Amz-Algorithm");
    String credential = query.get("X-Amz-Credential");
    String signature = query.get("X-Amz-Signature");
    String date = query.get("X-Amz-Date");
    String signedHeaders = query.get("X-Amz-SignedHeaders");
    String expires = query.get("X-Amz-Expires");
    if (algorithm == null
        || credential == null
        || signature == null
        || date == null
        || signedHeaders == null
        || expires == null) {
      throw error(
          "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential,"
              + " X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.");
    }
    checkAlgorithm(algorithm);
    SignatureClaim.CredentialScope scope =
        SignatureClaim.CredentialScope.parse(
            credential,
            ScopeRules.ofS3(region),
            S3Error.AUTHORIZATION_QUERY_PARAMETERS_ERROR,
            PREFIX);
    checkTime(date, scope, expiresSeconds(expires), now, skewMax);
    return new SignatureClaim(
        scope, signedHeaders.split(";", -1), signature, date, payloadHash(query, headers), true);
  }

  static void checkAlgorithm(String algorithm) throws S3Exception {
    if (algorithm.equals("AWS4-ECDSA-P256-SHA256")) {
      throw new S3Exception(S3Error.NOT_IMPLEMENTED);
    }
    if (!algorithm.equals(SigV4Authenticator.ALGORITHM)) {
      throw error("X-Amz-Algorithm only supports \"AWS4-HMAC-SHA256 and AWS4-ECDSA-P256-SHA256\"");
    }
  }

  private static long expiresSeconds(String expires) throws S3Exception {
    boolean negative = expires.startsWith("-");
    String digits = negative ? expires.substring(1) : expires;
    if (digits.isEmpty() || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
      throw error("X-Amz-Expires should be a number");
    }
    if (negative) {
      throw invalidLifetime("X-Amz-Expires must be non-negative");
    }
    long seconds = digits.length() > EXPIRES_DIGITS_MAX ? Long.MAX_VALUE : Long.parseLong(digits);
    if (seconds > EXPIRES_SECONDS_MAX) {
      throw invalidLifetime(
          "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires"
              + " must be less than 604800 seconds");
    }
    return seconds;
  }

  private static void checkTime(
      String date,
      SignatureClaim.CredentialScope scope,
      long expiresSeconds,
      Instant now,
      Duration skewMax)
      throws S3Exception {
    Instant signed = time(date);
    scope.requireDay(date, S3Error.AUTHORIZATION_QUERY_PARAMETERS_ERROR, PREFIX);
    if (signed.isAfter(now.plus(skewMax))) {
      throw new S3Exception(S3Error.ACCESS_DENIED, "Request is not valid yet");
    }
    Instant end = signed.plusSeconds(expiresSeconds);
    if (now.isAfter(end)) {
      throw new S3Exception(S3Error.ACCESS_DENIED, "Request has expired")
          .with("X-Amz-Expires", expiresSeconds)
          .with("Expires", end.toString())
          .with("ServerTime", now.toString());
    }
  }

  /** When a request was signed. */
  static Instant time(String date) throws S3Exception {
    Instant signed = Timestamps.parse(date);
    if (signed == null) {
      throw error("X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"");
    }
    return signed;
  }

  private static String payloadHash(SignedQuery query, HttpHeaders headers) throws S3Exception {
    @Nullable String hash = headers.get(AmzHeaderNames.CONTENT_SHA256);
    if (hash == null) {
      hash = query.get("X-Amz-Content-Sha256");
    }
    return hash == null ? PayloadBodies.UNSIGNED : hash;
  }

  private static S3Exception invalidLifetime(String message) {
    return new S3Exception(S3Error.INVALID_URL_LIFETIME, message);
  }

  private static S3Exception error(String message) {
    return new S3Exception(S3Error.AUTHORIZATION_QUERY_PARAMETERS_ERROR, message);
  }
}
