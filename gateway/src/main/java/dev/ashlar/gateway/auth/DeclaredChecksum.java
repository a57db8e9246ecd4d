package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.checksum.ChecksumKind;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.AmzHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The checksum that the headers of a request declare.
 *
 * @param expected null when a trailer carries it
 */
record DeclaredChecksum(ChecksumKind kind, byte @Nullable [] expected) {
  private static final String PREFIX = "x-amz-checksum-";

  /** Null when there is none. */
  static @Nullable DeclaredChecksum of(HttpHeaders headers, boolean trailers, boolean hasBody)
      throws S3Exception {
    DeclaredChecksum declared = inHeaders(headers);
    if (trailers) {
      declared = inTrailers(headers.get(AmzHeaderNames.TRAILER), declared);
    }
    String sdkAlgorithm = headers.get(AmzHeaderNames.SDK_CHECKSUM_ALGORITHM);
    if (sdkAlgorithm != null && hasBody) {
      checkAnnounced(sdkAlgorithm, declared);
    }
    return declared;
  }

  private static @Nullable DeclaredChecksum inHeaders(HttpHeaders headers) throws S3Exception {
    DeclaredChecksum declared = null;
    Iterator<Map.Entry<CharSequence, CharSequence>> each = headers.iteratorCharSequence();
    while (each.hasNext()) {
      Map.Entry<CharSequence, CharSequence> header = each.next();
      CharSequence name = header.getKey();
      if (name.length() > PREFIX.length() && name.charAt(5) == '-') {
        ChecksumKind kind = ChecksumKind.ofHeader(name.toString());
        if (kind != null) {
          if (declared != null) {
            throw several();
          }
          declared =
              new DeclaredChecksum(kind, decode(kind, header.getValue().toString(), "header"));
        }
      }
    }
    return declared;
  }

  private static @Nullable DeclaredChecksum inTrailers(
      @Nullable String announced, @Nullable DeclaredChecksum declared) throws S3Exception {
    if (announced == null) {
      return declared;
    }
    DeclaredChecksum found = declared;
    for (String name : announced.split(",", -1)) {
      ChecksumKind kind = ChecksumKind.ofHeader(name.strip());
      if (kind == null) {
        throw S3Exception.invalidRequest(
            "The value specified in the x-amz-trailer header is not supported");
      }
      if (found != null) {
        throw several();
      }
      found = new DeclaredChecksum(kind, null);
    }
    return found;
  }

  private static void checkAnnounced(String algorithm, @Nullable DeclaredChecksum declared)
      throws S3Exception {
    if (declared == null) {
      throw S3Exception.invalidRequest(
          "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or"
              + " x-amz-trailer headers were found.");
    }
    if (!declared.kind().name().equals(algorithm.toUpperCase(Locale.ROOT))) {
      throw S3Exception.invalidRequest("Value for x-amz-sdk-checksum-algorithm header is invalid.");
    }
  }

  /**
   * @param where header or trailing header, for the message
   */
  static byte[] decode(ChecksumKind kind, String base64, String where) throws S3Exception {
    byte[] value = kind.decode(base64.strip());
    if (value == null) {
      throw new S3Exception(
          S3Error.MALFORMED_CHECKSUM, "Value for " + kind.header() + " " + where + " is invalid.");
    }
    return value;
  }

  private static S3Exception several() {
    return S3Exception.invalidRequest(
        "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.");
  }
}
