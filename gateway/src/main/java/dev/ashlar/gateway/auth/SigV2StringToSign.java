package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.s3.Subresource;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a signature of version 2 covers ("Signing and authenticating REST requests (AWS signature
 * version 2)", Amazon S3 user guide). Every char stands for one byte, as received.
 *
 * @param hostBucket the bucket that the host names; null if the path does
 */
record SigV2StringToSign(
    HttpExchange exchange, SignedQuery query, SigV2Claim claim, @Nullable String hostBucket) {
  private static final String AMAZON = "x-amz-";

  /** The parameters that clients sign, as the AWS SDKs for Python list them. */
  private static final Set<String> SIGNED_PARAMETERS =
      Set.of(
          "accelerate",
          "acl",
          "analytics",
          "cors",
          "defaultObjectAcl",
          "delete",
          "inventory",
          "lifecycle",
          "location",
          "logging",
          "metrics",
          "notification",
          "object-lock",
          "partNumber",
          "policy",
          "replication",
          "requestPayment",
          "response-cache-control",
          "response-content-disposition",
          "response-content-encoding",
          "response-content-language",
          "response-content-type",
          "response-expires",
          "restore",
          "select",
          "select-type",
          "storageClass",
          "tagging",
          "torrent",
          "uploadId",
          "uploads",
          "versionId",
          "versioning",
          "versions",
          "website");

  /** Chooses a listing instead of another listing. */
  private static final String LIST_TYPE = "list-type";

  /**
   * The texts that may be signed: one, or two for a bucket in the path, which some clients send
   * without and sign with a slash at its end.
   *
   * @throws S3Exception AccessDenied when the request has something that changes its meaning and
   *     that this version does not sign
   */
  List<String> texts() throws S3Exception {
    String path = exchange.rawPath();
    String asSent = text(hostBucket == null ? path : '/' + hostBucket + path);
    boolean isBucket = hostBucket == null && path.length() > 1 && path.indexOf('/', 1) < 0;
    return isBucket ? List.of(asSent, text(path + '/')) : List.of(asSent);
  }

  private String text(String resource) throws S3Exception {
    StringBuilder out = new StringBuilder(256);
    out.append(exchange.method()).append('\n');
    out.append(exchange.headers().get(HttpHeaderNames.CONTENT_MD5, "")).append('\n');
    out.append(exchange.headers().get(HttpHeaderNames.CONTENT_TYPE, "")).append('\n');
    out.append(claim.dateLine()).append('\n');
    amazonHeaders().forEach((name, value) -> out.append(name + ':' + value + '\n'));
    out.append(resource);
    char separator = '?';
    for (Map.Entry<String, String> parameter : signedParameters().entrySet()) {
      out.append(separator).append(parameter.getKey());
      if (!parameter.getValue().isEmpty()) {
        out.append('=').append(parameter.getValue());
      }
      separator = '&';
    }
    return out.toString();
  }

  /** By name; those of a presigned request may be in its query. */
  private TreeMap<String, String> amazonHeaders() throws S3Exception {
    TreeMap<String, String> all = new TreeMap<>();
    for (Map.Entry<String, String> header : exchange.headers()) {
      addAmazon(all, header.getKey(), header.getValue());
    }
    for (Map.Entry<String, String> parameter : query.decoded()) {
      if (isAmazon(parameter.getKey())) {
        // A line break in a value would look like another header.
        if (!claim.presigned() || parameter.getValue().indexOf('\n') >= 0) {
          throw notSigned(parameter.getKey());
        }
        addAmazon(all, parameter.getKey(), parameter.getValue());
      }
    }
    return all;
  }

  private static void addAmazon(Map<String, String> all, String name, String value) {
    if (isAmazon(name)) {
      all.merge(name.toLowerCase(Locale.ROOT), value.strip(), (a, b) -> a + ',' + b);
    }
  }

  private static boolean isAmazon(String name) {
    return name.regionMatches(true, 0, AMAZON, 0, AMAZON.length());
  }

  private TreeMap<String, String> signedParameters() throws S3Exception {
    TreeMap<String, String> signed = new TreeMap<>();
    for (Map.Entry<String, String> parameter : query.decoded()) {
      String name = parameter.getKey();
      if (SIGNED_PARAMETERS.contains(name)) {
        if (looksLikeSeveral(parameter.getValue())
            || signed.put(name, parameter.getValue()) != null) {
          throw notSigned(name);
        }
      } else if (Subresource.isName(name) && !name.equals(LIST_TYPE)) {
        throw notSigned(name);
      }
    }
    return signed;
  }

  /** Whether what is in a value would look like another parameter. */
  private static boolean looksLikeSeveral(String value) {
    int ampersand = value.indexOf('&');
    return ampersand >= 0
        && Stream.of(value.substring(ampersand + 1).split("&", -1))
            .map(part -> part.split("=", 2)[0])
            .anyMatch(SIGNED_PARAMETERS::contains);
  }

  private static S3Exception notSigned(String name) {
    return new S3Exception(
        S3Error.ACCESS_DENIED,
        "Signature version 2 does not cover the parameter "
            + name
            + ". Please use "
            + SigV4Authenticator.ALGORITHM
            + ".");
  }
}
