package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.AmzHeaderNames;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import org.jspecify.annotations.Nullable;

/** {@code Authorization: AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…}. */
final class AuthorizationHeader {
  private static final String MALFORMED = "The authorization header is malformed; ";

  private AuthorizationHeader() {}

  /** The signature of an S3 request, which has to say how its payload is signed. */
  static SignatureClaim parse(String authorization, HttpHeaders headers, String region)
      throws S3Exception {
    return parse(
        authorization,
        headers,
        ScopeRules.ofS3(region),
        headers.get(AmzHeaderNames.CONTENT_SHA256));
  }

  /**
   * @param payloadHash signed; null if it is required and was not sent
   */
  static SignatureClaim parse(
      String authorization, HttpHeaders headers, ScopeRules rules, @Nullable String payloadHash)
      throws S3Exception {
    int blank = authorization.indexOf(' ');
    String algorithm = blank < 0 ? authorization : authorization.substring(0, blank);
    checkAlgorithm(algorithm, authorization);
    String rest = blank < 0 ? "" : authorization.substring(blank + 1);
    String credential = component(rest, "Credential=");
    String signedHeaders = component(rest, "SignedHeaders=");
    String signature = component(rest, "Signature=");
    if (credential == null || signedHeaders == null || signature == null) {
      throw malformed(
          "the authorization header requires three components: Credential, SignedHeaders, and"
              + " Signature.");
    }
    SignatureClaim.CredentialScope scope =
        SignatureClaim.CredentialScope.parse(
            credential, rules, S3Error.AUTHORIZATION_HEADER_MALFORMED, MALFORMED);
    String timestamp = timestamp(headers);
    scope.requireDay(timestamp, S3Error.AUTHORIZATION_HEADER_MALFORMED, MALFORMED);
    if (payloadHash == null) {
      throw S3Exception.invalidRequest(
          "Missing required header for this request: x-amz-content-sha256");
    }
    return new SignatureClaim(
        scope, signedHeaders.split(";", -1), signature, timestamp, payloadHash, false);
  }

  private static void checkAlgorithm(String algorithm, String authorization) throws S3Exception {
    switch (algorithm) {
      case SigV4Authenticator.ALGORITHM -> {}
      case "AWS" -> throw oldSignature();
      case "AWS4-ECDSA-P256-SHA256" -> throw new S3Exception(S3Error.NOT_IMPLEMENTED);
      default ->
          throw S3Exception.invalidArgument(
              "Unsupported Authorization Type", "Authorization", authorization);
    }
  }

  static S3Exception oldSignature() {
    return S3Exception.invalidRequest(
        "The authorization mechanism you have provided is not supported. Please use "
            + SigV4Authenticator.ALGORITHM
            + ".");
  }

  private static @Nullable String component(String components, String prefix) {
    int start = 0;
    while (start < components.length()) {
      int end = components.indexOf(',', start);
      end = end < 0 ? components.length() : end;
      while (start < end && components.charAt(start) == ' ') {
        start++;
      }
      if (components.startsWith(prefix, start)) {
        return components.substring(start + prefix.length(), end).strip();
      }
      start = end + 1;
    }
    return null;
  }

  private static String timestamp(HttpHeaders headers) throws S3Exception {
    String timestamp = headers.get(AmzHeaderNames.DATE);
    if (timestamp != null) {
      return timestamp;
    }
    String date = headers.get(HttpHeaderNames.DATE);
    if (date != null) {
      timestamp = Timestamps.parse(date) == null ? Timestamps.fromHttpDate(date) : date;
    }
    if (timestamp == null) {
      throw new S3Exception(
          S3Error.ACCESS_DENIED, "AWS authentication requires a valid Date or x-amz-date header");
    }
    return timestamp;
  }

  private static S3Exception malformed(String why) {
    return new S3Exception(S3Error.AUTHORIZATION_HEADER_MALFORMED, MALFORMED + why);
  }
}
