package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.error.S3Exception;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Refuses headers that ask for more than is served. Unknown x-amz- headers are refused, because
 * they may change what a request means.
 */
final class SupportedHeaders {
  private static final String AMZ = "x-amz-";
  private static final String META = "x-amz-meta-";
  private static final String BYPASS = "x-amz-bypass-governance-retention";

  /** Headers that are implemented. */
  private static final Set<String> IMPLEMENTED =
      Set.of(
          "x-amz-checksum-algorithm",
          "x-amz-checksum-crc32",
          "x-amz-checksum-crc32c",
          "x-amz-checksum-crc64nvme",
          "x-amz-checksum-mode",
          "x-amz-checksum-sha1",
          "x-amz-checksum-sha256",
          "x-amz-checksum-type",
          "x-amz-content-sha256",
          "x-amz-copy-source",
          "x-amz-copy-source-if-match",
          "x-amz-copy-source-if-modified-since",
          "x-amz-copy-source-if-none-match",
          "x-amz-copy-source-if-unmodified-since",
          "x-amz-copy-source-range",
          "x-amz-date",
          "x-amz-decoded-content-length",
          "x-amz-expected-bucket-owner",
          "x-amz-max-parts",
          "x-amz-metadata-directive",
          "x-amz-mp-object-size",
          "x-amz-object-attributes",
          "x-amz-part-number-marker",
          "x-amz-sdk-checksum-algorithm",
          "x-amz-security-token",
          "x-amz-source-expected-bucket-owner",
          "x-amz-storage-class",
          "x-amz-trailer",
          "x-amz-write-offset-bytes");

  /** Headers of SDKs and proxies that may be ignored. */
  private static final Set<String> HARMLESS =
      Set.of(
          "x-amz-cf-id",
          "x-amz-id-2",
          "x-amz-request-id",
          // Java: asks for a digest behind the body, and looks for it only where one is announced.
          "x-amz-te",
          "x-amz-user-agent");

  private SupportedHeaders() {}

  static void require(String method, HttpHeaders headers) throws S3Exception {
    Iterator<Map.Entry<CharSequence, CharSequence>> all = headers.iteratorCharSequence();
    while (all.hasNext()) {
      Map.Entry<CharSequence, CharSequence> header = all.next();
      String name = header.getKey().toString();
      if (name.regionMatches(true, 0, AMZ, 0, AMZ.length())) {
        String lower = name.toLowerCase(Locale.ROOT);
        String value = header.getValue().toString().trim();
        if (!isSupported(lower, value)) {
          throw lower.equals(BYPASS)
              ? bypassWithoutLock(value)
              : S3Exception.unsupportedHeader(lower);
        }
      }
    }
    requireSupportedConditions(method, headers);
  }

  /** No bucket has object lock; this is what S3 answers for such buckets. */
  private static S3Exception bypassWithoutLock(String value) {
    return S3Exception.invalidArgument(
        BYPASS + " is only applicable to Object Lock enabled buckets.", BYPASS, value);
  }

  private static boolean isSupported(String name, String value) {
    return switch (name) {
      case "x-amz-acl" -> value.equals("private") || value.equals("bucket-owner-full-control");
      // The C++ SDK names the version of the API that it was made from.
      case "x-amz-api-version" -> value.equals("2006-03-01");
      case "x-amz-bucket-namespace" -> value.equals("global");
      case "x-amz-bucket-object-lock-enabled", BYPASS -> value.equalsIgnoreCase("false");
      // No object has annotations or tags, and a request that brings some is refused.
      case "x-amz-object-annotation-directive" -> value.equals("COPY") || value.equals("EXCLUDE");
      case "x-amz-tagging-directive" -> value.equals("COPY") || value.equals("REPLACE");
      case "x-amz-object-ownership" -> value.equals("BucketOwnerEnforced");
      // Of objects that were restored from an archive: no object is one.
      case "x-amz-optional-object-attributes" -> value.equals("RestoreStatus");
      // Agrees to pay where the bucket demands it, and no bucket does; S3 ignores it, too.
      case "x-amz-request-payer" -> value.equals("requester");
      case "x-amz-tagging" -> value.isEmpty();
      default -> IMPLEMENTED.contains(name) || HARMLESS.contains(name) || name.startsWith(META);
    };
  }

  /** Conditions on times exist for reads and for PATCH only. */
  private static void requireSupportedConditions(String method, HttpHeaders headers)
      throws S3Exception {
    switch (method) {
      case "PUT", "POST", "DELETE" -> {
        for (String name : new String[] {"If-Modified-Since", "If-Unmodified-Since"}) {
          if (headers.contains(name)) {
            throw S3Exception.unsupportedHeader(name);
          }
        }
      }
      default -> {}
    }
  }
}
