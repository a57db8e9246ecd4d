package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.checksum.ChecksumKind;
import dev.ashlar.gateway.encryption.CustomerFields;
import dev.ashlar.gateway.encryption.EncryptionFields;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.AmzHeaderNames;
import dev.ashlar.gateway.uri.Query;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Finds the headers of a request, and refuses those that ask for more than is served. Unknown
 * x-amz- headers that may be S3's are refused, because they may change what a request means. Query
 * parameters named x-amz-… count as headers: signers put headers there when they presign a URL. The
 * query is signed as a whole.
 */
final class SupportedHeaders {
  private static final String AMZ = "x-amz-";
  private static final String META = "x-amz-meta-";

  private static final List<AsciiString> TIME_CONDITIONS =
      List.of(AsciiString.cached("If-Modified-Since"), AsciiString.cached("If-Unmodified-Since"));

  private static final Set<String> IMPLEMENTED =
      Set.of(
          LockRequests.LOCK_BUCKET,
          LockRequests.BYPASS,
          DeleteConditions.SIZE,
          DeleteConditions.TIME,
          AclHeaders.CANNED,
          "x-amz-checksum-algorithm",
          "x-amz-checksum-crc32",
          "x-amz-checksum-crc32c",
          "x-amz-checksum-crc64nvme",
          "x-amz-checksum-md5",
          "x-amz-checksum-mode",
          "x-amz-checksum-sha1",
          "x-amz-checksum-sha256",
          "x-amz-checksum-sha512",
          "x-amz-checksum-type",
          "x-amz-checksum-xxhash128",
          "x-amz-checksum-xxhash3",
          "x-amz-checksum-xxhash64",
          S3RequestParser.CONFIRMATION,
          S3RequestParser.SKIP_VALIDATION,
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
          LockValues.HOLD,
          LockValues.MODE,
          LockValues.UNTIL,
          "x-amz-object-ownership",
          "x-amz-part-number-marker",
          "x-amz-sdk-checksum-algorithm",
          "x-amz-security-token",
          "x-amz-source-expected-bucket-owner",
          "x-amz-storage-class",
          "x-amz-tagging",
          "x-amz-tagging-directive",
          "x-amz-trailer",
          LifecycleRequests.MINIMUM_SIZE,
          RedirectLocation.HEADER,
          "x-amz-write-offset-bytes");

  /** Fields of forms, beside those of checksums and of metadata. */
  private static final Set<String> FIELDS =
      Set.of(
          "x-amz-algorithm",
          "x-amz-checksum-algorithm",
          "x-amz-credential",
          "x-amz-date",
          LockValues.HOLD,
          LockValues.MODE,
          LockValues.UNTIL,
          "x-amz-request-payer",
          "x-amz-sdk-checksum-algorithm",
          "x-amz-security-token",
          "x-amz-signature",
          "x-amz-storage-class",
          RedirectLocation.HEADER);

  /** Headers of SDKs and proxies that may be ignored. */
  private static final Set<String> HARMLESS =
      Set.of(
          // Was needed to enable object lock for a bucket that exists.
          "x-amz-bucket-object-lock-token",
          "x-amz-cf-id",
          "x-amz-id-2",
          "x-amz-request-id",
          // Java: asks for a digest behind the body, and looks for it only where one is announced.
          "x-amz-te",
          "x-amz-user-agent");

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

  /** Conditions of policies compare them, and must not see another value than the request. */
  private static final Set<String> SINGLE =
      Set.of(
          AclHeaders.CANNED,
          "x-amz-copy-source",
          "x-amz-metadata-directive",
          "x-amz-object-ownership",
          "x-amz-storage-class",
          RedirectLocation.HEADER);

  /**
   * Read from the headers alone, where S3 may read them from the query. So are keys, which URLs
   * would carry into logs.
   */
  private static final Set<String> HEADERS_ONLY =
      Set.of("x-amz-decoded-content-length", "x-amz-expected-bucket-owner", "x-amz-trailer");

  private SupportedHeaders() {}

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
          add(joined, lower, RequestHeaders.headerValue(lower, query.value(i)).trim());
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
    if (HEADERS_ONLY.contains(name) || CustomerFields.isKey(name) || !isHeaderName(name)) {
      throw S3Exception.unsupportedHeader(name);
    }
    List<String> others = joined.getAll(name);
    if (!others.isEmpty() && !others.equals(List.of(value))) {
      throw S3Exception.invalidArgument("Conflicting values of a header", name, value);
    }
    joined.set(name, value);
  }

  /** Metadata comes back as headers: their names must not break out of the line. */
  private static boolean isHeaderName(String name) {
    return name.chars()
        .allMatch(c -> (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || "-_.".indexOf(c) >= 0);
  }

  /**
   * @param isRename whether the headers of RenameObject are served
   */
  static void require(String method, HttpHeaders headers, boolean isRename) throws S3Exception {
    Iterator<Map.Entry<CharSequence, CharSequence>> all = headers.iteratorCharSequence();
    while (all.hasNext()) {
      Map.Entry<CharSequence, CharSequence> header = all.next();
      String name = header.getKey().toString();
      if (name.regionMatches(true, 0, AMZ, 0, AMZ.length())) {
        String lower = name.toLowerCase(Locale.ROOT);
        String value = header.getValue().toString().trim();
        boolean isServed = isRename && RenameRequests.isOwnHeader(lower);
        boolean isKnown = isServed || isSupported(lower, value);
        if (!isKnown && AmzHeaderNames.mayBeOfS3(lower)) {
          throw S3Exception.unsupportedHeader(lower);
        }
        boolean isSingle = SINGLE.contains(lower) || EncryptionFields.isName(lower);
        if (isSingle && headers.getAll(lower).size() > 1) {
          throw S3Exception.invalidArgument(
              "The header may come only once", lower, CustomerFields.isKey(lower) ? "" : value);
        }
      }
    }
    requireSupportedConditions(method, headers);
  }

  /** Refuses what a form means to ask for beside its fields. */
  static void requireNoneBesideForm(HttpHeaders headers) throws S3Exception {
    for (String name : headers.names()) {
      String lower = name.toLowerCase(Locale.ROOT);
      boolean isServed =
          HARMLESS.contains(lower) || AmzHeaderNames.EXPECTED_BUCKET_OWNER.contentEquals(lower);
      if (lower.startsWith(AMZ) && !isServed) {
        throw S3Exception.unsupportedHeader(lower);
      }
    }
  }

  /**
   * Refuses a field of a form that asks for more than is served.
   *
   * @param name in lower case
   */
  static void requireField(String name) throws S3Exception {
    boolean isServed =
        !name.startsWith(AMZ)
            || name.startsWith(META)
            || FIELDS.contains(name)
            || EncryptionFields.isName(name)
            || ChecksumKind.ofHeader(name) != null;
    if (!isServed) {
      throw S3Exception.unsupportedHeader(name);
    }
  }

  private static boolean isSupported(String name, String value) {
    return switch (name) {
      // The C++ SDK names the version of the API that it was made from.
      case "x-amz-api-version" -> value.equals("2006-03-01");
      case "x-amz-bucket-namespace" -> value.equals("global");
      // No object has annotations, and a request that brings some is refused.
      case "x-amz-object-annotation-directive" -> value.equals("COPY") || value.equals("EXCLUDE");
      // Of objects that were restored from an archive: no object is one.
      case "x-amz-optional-object-attributes" -> value.equals("RestoreStatus");
      // Agrees to pay where the bucket demands it; S3 knows no other value.
      case "x-amz-request-payer" -> value.equals("requester");
      default ->
          IMPLEMENTED.contains(name)
              || EncryptionFields.isName(name)
              || HARMLESS.contains(name)
              || name.startsWith(META)
              || AclHeaders.isGrant(name);
    };
  }

  /** Conditions on times exist for reads and for PATCH only. */
  private static void requireSupportedConditions(String method, HttpHeaders headers)
      throws S3Exception {
    boolean isWrite = method.equals("PUT") || method.equals("POST") || method.equals("DELETE");
    for (AsciiString name : TIME_CONDITIONS) {
      if (isWrite && headers.contains(name)) {
        throw S3Exception.unsupportedHeader(name.toString());
      }
    }
  }
}
