package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.error.S3Exception;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Refuses headers that would change what a request means if they were heeded. Of the x-amz-
 * headers, those that are not known here are refused: a new one may ask for anything.
 */
final class SupportedHeaders {
  private static final String AMZ = "x-amz-";
  private static final String META = "x-amz-meta-";
  private static final String BYPASS = "x-amz-bypass-governance-retention";

  /** Headers that are heeded wherever they mean something. */
  private static final Set<String> HEEDED =
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

  /** Headers of SDKs and proxies that ask for nothing, or for what the server may leave out. */
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
              : RequestHeaders.notImplemented(lower);
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
      // Agrees to pay where the bucket demands it, and no bucket does: S3 ignores it there, too.
      case "x-amz-request-payer" -> value.equals("requester");
      case "x-amz-tagging" -> value.isEmpty();
      default -> HEEDED.contains(name) || HARMLESS.contains(name) || name.startsWith(META);
    };
  }

  /** A change is conditional on ETags; only a PATCH on times, which its parser reads. */
  private static void requireSupportedConditions(String method, HttpHeaders headers)
      throws S3Exception {
    switch (method) {
      case "PUT", "POST", "DELETE" -> {
        for (String name : new String[] {"If-Modified-Since", "If-Unmodified-Since"}) {
          if (headers.contains(name)) {
            throw RequestHeaders.notImplemented(name);
          }
        }
      }
      default -> {}
    }
  }
}
