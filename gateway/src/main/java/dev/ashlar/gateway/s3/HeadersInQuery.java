package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.checksum.ChecksumKind;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.uri.Query;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Locale;
import java.util.Set;

/**
 * Query parameters named x-amz-… count as headers: signers put headers there when they presign a
 * URL. The query is signed as a whole.
 */
final class HeadersInQuery {
  private static final String AMZ = "x-amz-";

  /** Parameters of the signature. */
  private static final Set<String> SIGNATURE =
      Set.of(
          "x-amz-algorithm",
          "x-amz-content-sha256",
          "x-amz-credential",
          "x-amz-date",
          "x-amz-expires",
          "x-amz-security-token",
          "x-amz-signature",
          "x-amz-signedheaders");

  /** Read from the headers alone, where S3 may read them from the query. */
  private static final Set<String> HEADERS_ONLY =
      Set.of("x-amz-decoded-content-length", "x-amz-expected-bucket-owner", "x-amz-trailer");

  private HeadersInQuery() {}

  /**
   * The headers of the request and of its query.
   *
   * @throws S3Exception when one may not be there, or contradicts a header
   */
  static HttpHeaders joined(HttpHeaders headers, Query query) throws S3Exception {
    HttpHeaders joined = headers;
    for (int i = 0; i < query.size(); i++) {
      String name = query.name(i);
      if (name.regionMatches(true, 0, AMZ, 0, AMZ.length())) {
        String lower = name.toLowerCase(Locale.ROOT);
        if (!SIGNATURE.contains(lower) && !isBodyChecksum(lower)) {
          joined = joined == headers ? new DefaultHttpHeaders().add(headers) : joined;
          add(joined, lower, RequestHeaders.headerValue(lower, query.value(i)));
        }
      }
    }
    return joined;
  }

  /**
   * Signers compute it before there is a body, so that S3 does not compare it where it comes in the
   * query.
   */
  private static boolean isBodyChecksum(String name) {
    return name.equals("x-amz-sdk-checksum-algorithm")
        || ChecksumKind.ALL.stream().anyMatch(kind -> name.equals(kind.header()));
  }

  private static void add(HttpHeaders joined, String name, String value) throws S3Exception {
    if (HEADERS_ONLY.contains(name) || !isHeaderName(name)) {
      throw S3Exception.unsupportedHeader(name);
    }
    String other = joined.get(name);
    if (other != null && !other.equals(value)) {
      throw S3Exception.invalidArgument("Conflicting values of a header", name, value);
    }
    joined.set(name, value);
  }

  /** Metadata comes back as headers: their names must not break out of the line. */
  private static boolean isHeaderName(String name) {
    return name.chars()
        .allMatch(c -> (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || "-_.".indexOf(c) >= 0);
  }
}
