package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.AmzHeaderNames;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a signature of version 2: {@code Authorization: AWS key:signature}, or
 * AWSAccessKeyId, Expires and Signature in the query.
 *
 * @param signature in Base64
 * @param dateLine what the string to sign has as its date: the Date header, nothing if there is an
 *     x-amz-date, or the second since 1970 in which a presigned request expires
 * @param presigned the signature is in the query
 */
record SigV2Claim(String accessKey, String signature, String dateLine, boolean presigned) {
  static final String SCHEME = "AWS ";
  private static final int EXPIRES_DIGITS_MAX = 10;

  /**
   * Null for a request that is not signed with version 2.
   *
   * @throws S3Exception when the signature is malformed or is not valid now
   */
  static @Nullable SigV2Claim of(HttpHeaders headers, SignedQuery query, Instant now)
      throws S3Exception {
    String authorization = headers.get(HttpHeaderNames.AUTHORIZATION);
    if (query.has("AWSAccessKeyId")) {
      if (authorization != null || query.has("X-Amz-Algorithm")) {
        throw SigV4Authenticator.severalMechanisms();
      }
      return ofQuery(query, now);
    }
    if (authorization == null || !authorization.startsWith(SCHEME)) {
      return null;
    }
    if (query.has("X-Amz-Algorithm")) {
      throw SigV4Authenticator.severalMechanisms();
    }
    return ofHeader(authorization.substring(SCHEME.length()).strip(), headers, now);
  }

  private static SigV2Claim ofHeader(String credential, HttpHeaders headers, Instant now)
      throws S3Exception {
    int colon = credential.lastIndexOf(':');
    if (colon <= 0) {
      throw S3Exception.invalidArgument(
          "AWS authorization header is invalid.  Expected AwsAccessKeyId:signature",
          "Authorization",
          SCHEME + credential);
    }
    String amazonDate = headers.get(AmzHeaderNames.DATE);
    String date = headers.get(HttpHeaderNames.DATE, "");
    String time = amazonDate == null ? date : amazonDate;
    String basic = Timestamps.fromHttpDate(time);
    SigV4Authenticator.checkSkew(basic == null ? time : basic, now);
    return new SigV2Claim(
        credential.substring(0, colon),
        credential.substring(colon + 1),
        amazonDate == null ? date : "",
        false);
  }

  private static SigV2Claim ofQuery(SignedQuery query, Instant now) throws S3Exception {
    String accessKey = query.get("AWSAccessKeyId");
    String signature = query.get("Signature");
    String expires = query.get("Expires");
    if (accessKey == null || signature == null || expires == null) {
      throw new S3Exception(
          S3Error.ACCESS_DENIED,
          "Query-string authentication requires the Signature, Expires and AWSAccessKeyId"
              + " parameters");
    }
    boolean isNumber =
        !expires.isEmpty()
            && expires.length() <= EXPIRES_DIGITS_MAX
            && expires.chars().allMatch(c -> c >= '0' && c <= '9');
    if (!isNumber) {
      throw new S3Exception(
          S3Error.ACCESS_DENIED, "Invalid date (should be seconds since epoch): " + expires);
    }
    Instant end = Instant.ofEpochSecond(Long.parseLong(expires));
    if (!now.isBefore(end)) {
      throw new S3Exception(S3Error.ACCESS_DENIED, "Request has expired")
          .with("Expires", end.toString())
          .with("ServerTime", now.toString());
    }
    return new SigV2Claim(accessKey, signature, expires, true);
  }
}
