package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.access.acl.AclRequest;
import dev.ashlar.gateway.access.acl.CannedAcl;
import dev.ashlar.gateway.checksum.ChecksumKind;
import dev.ashlar.gateway.checksum.Checksums;
import dev.ashlar.gateway.encryption.CustomerFields;
import dev.ashlar.gateway.encryption.EncryptionFields;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.AmzHeaderNames;
import dev.ashlar.gateway.s3.S3Request.AppendDialect;
import dev.ashlar.gateway.s3.S3Request.CopySource;
import dev.ashlar.gateway.s3.S3Request.ExpectedChecksum;
import dev.ashlar.gateway.s3.S3Request.ObjectAttribute;
import dev.ashlar.gateway.s3.S3Request.ReadOptions;
import dev.ashlar.gateway.uri.Percent;
import dev.ashlar.gateway.uri.Query;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumType;
import dev.ashlar.protocol.message.VersionRef;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Parses the requests about one object.
 *
 * @param version that the query names; null: none
 */
record ObjectRequestParser(
    AnswerStyle answers,
    String bucket,
    String key,
    @Nullable VersionRef version,
    Query query,
    HttpHeaders headers) {
  private static final int PARTS_MAX = 10_000;
  private static final int PARTS_PAGE_MAX = 1000;
  static final String WRITE_OFFSET = AmzHeaderNames.WRITE_OFFSET.toString();
  private static final String COPY_SOURCE = AmzHeaderNames.COPY_SOURCE.toString();
  private static final String COPY_SOURCE_RANGE = "x-amz-copy-source-range";

  S3Request parse(String method) throws S3Exception {
    return switch (method) {
      case "GET" -> get();
      case "HEAD" -> new S3Request.HeadObject(bucket, key, version, readOptions());
      case "PUT" -> put();
      case "POST" -> post();
      case "PATCH" -> patch();
      case "DELETE" -> delete();
      default -> throw S3RequestParser.methodNotAllowed(method, "OBJECT");
    };
  }

  private S3Request get() throws S3Exception {
    if (query.has("uploadId")) {
      return new S3Request.ListParts(
          bucket,
          key,
          query.get("uploadId", ""),
          query.number("part-number-marker"),
          query.count("max-parts", PARTS_PAGE_MAX),
          S3RequestParser.urlEncoding(query));
    }
    if (query.has("attributes")) {
      return new S3Request.GetObjectAttributes(
          bucket,
          key,
          version,
          Conditions.of(headers, Conditions.Names.PLAIN),
          attributes(),
          headerNumber("x-amz-part-number-marker", 0, Integer.MAX_VALUE),
          headerNumber("x-amz-max-parts", PARTS_PAGE_MAX, PARTS_PAGE_MAX),
          CustomerFields.of(headers));
    }
    return new S3Request.GetObject(bucket, key, version, readOptions());
  }

  private S3Request put() throws S3Exception {
    boolean isCopy = headers.contains(AmzHeaderNames.COPY_SOURCE);
    if (query.has("uploadId") || query.has("partNumber")) {
      return isCopy ? uploadPartCopy() : uploadPart();
    }
    if (isCopy) {
      requireWholeCopy();
      return copy();
    }
    if (query.has("append") || headers.contains(AmzHeaderNames.WRITE_OFFSET)) {
      return append();
    }
    if (headers.contains(HttpHeaderNames.CONTENT_RANGE)) {
      // Meant for a part of the object, which it would replace as a whole: RFC 9110, 14.5.
      throw S3Exception.invalidRequest("A PUT with a Content-Range is not supported; use PATCH.");
    }
    RequestHeaders.requireLengthOrChunks(headers);
    NewFacts given = NewFacts.of(headers);
    if (given.asksForLock()) {
      requireDigest(headers);
    }
    return new S3Request.PutObject(
        bucket,
        key,
        RequestHeaders.attributes(headers),
        storageClass(),
        given,
        RequestHeaders.writeCondition(headers),
        Checksums.announced(headers),
        AclHeaders.parse(headers),
        EncryptionFields.of(headers));
  }

  /** What a write with a lock needs. */
  static void requireDigest(HttpHeaders headers) throws S3Exception {
    if (!Checksums.hasDigest(headers)) {
      throw S3Exception.invalidRequest(
          "Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with"
              + " Object Lock parameters");
    }
  }

  private S3Request post() throws S3Exception {
    if (query.has("uploads")) {
      return createUpload();
    }
    if (query.has("uploadId")) {
      return completeUpload();
    }
    if (query.has("append")) {
      return append();
    }
    throw S3RequestParser.methodNotAllowed("POST", "OBJECT");
  }

  private S3Request append() throws S3Exception {
    if (headers.contains(AmzHeaderNames.COPY_SOURCE)) {
      throw S3Exception.unsupportedHeader(COPY_SOURCE);
    }
    RequestHeaders.requireContentLength(headers);
    requireNoAcl();
    boolean isRgw = query.has("append");
    if (isRgw && headers.contains(AmzHeaderNames.WRITE_OFFSET)) {
      throw S3Exception.invalidRequest("Cannot specify both a write offset and a position");
    }
    return new S3Request.AppendObject(
        bucket,
        key,
        isRgw ? AppendDialect.RGW : AppendDialect.EXPRESS,
        isRgw
            ? offset("position", query.get("position", ""))
            : offset(WRITE_OFFSET, headers.get(WRITE_OFFSET, "").trim()),
        RequestHeaders.attributes(headers),
        storageClass(),
        RequestHeaders.writeCondition(headers),
        Checksums.announced(headers),
        EncryptionFields.of(headers));
  }

  /** The storage class that is asked for; null: none. */
  private @Nullable String storageClass() {
    return headers.get(AmzHeaderNames.STORAGE_CLASS);
  }

  /** A change leaves the ACL of the object as it is. */
  private void requireNoAcl() throws S3Exception {
    AclRequest acl = AclHeaders.parse(headers);
    if (acl.isGiven() && !acl.equals(new AclRequest.Canned(CannedAcl.PRIVATE))) {
      throw S3Exception.unsupportedHeader(AclHeaders.CANNED);
    }
  }

  /** Digits; what exceeds a long is behind the end of any object. */
  private static long offset(String name, String text) throws S3Exception {
    long offset = text.isEmpty() ? -1 : RangeSpec.number(text);
    if (offset < 0) {
      throw S3Exception.invalidArgument(
          "Provided " + name + " not an integer or within integer range", name, text);
    }
    return offset;
  }

  private S3Request patch() throws S3Exception {
    if (headers.contains(AmzHeaderNames.COPY_SOURCE)) {
      throw S3Exception.unsupportedHeader(COPY_SOURCE);
    }
    requireNoAcl();
    RequestHeaders.requireContentLength(headers);
    PatchRange range = PatchRange.parse(headers.get(HttpHeaderNames.CONTENT_RANGE));
    if (RequestHeaders.attributes(headers).getUserMetadataCount() > 0) {
      throw S3Exception.invalidRequest("Cannot specify user-defined object metadata for a patch.");
    }
    return new S3Request.PatchObject(
        bucket,
        key,
        range,
        storageClass(),
        RequestHeaders.writeCondition(headers),
        Conditions.of(headers, Conditions.Names.PLAIN).ifUnmodifiedSince(),
        Checksums.announced(headers),
        CustomerFields.of(headers));
  }

  private S3Request delete() throws S3Exception {
    if (query.has("uploadId")) {
      return new S3Request.AbortMultipartUpload(bucket, key, query.get("uploadId", ""));
    }
    return new S3Request.DeleteObject(
        bucket, key, version, LockRequests.asksForBypass(headers), DeleteConditions.of(headers));
  }

  private ReadOptions readOptions() throws S3Exception {
    RangeSpec range = RangeSpec.parse(headers.get(HttpHeaderNames.RANGE));
    int partNumber = 0;
    if (query.has("partNumber")) {
      partNumber = partNumber();
      if (range != null) {
        throw S3Exception.invalidRequest(
            "Cannot specify both Range header and partNumber query parameter");
      }
    }
    return new ReadOptions(
        Conditions.of(headers, Conditions.Names.PLAIN),
        range,
        partNumber,
        "ENABLED".equalsIgnoreCase(headers.get(AmzHeaderNames.CHECKSUM_MODE)),
        overrides(),
        CustomerFields.of(headers));
  }

  private Map<String, String> overrides() throws S3Exception {
    if (query.isEmpty()) {
      return Map.of();
    }
    Map<String, String> overrides = new HashMap<>();
    for (String name : RequestHeaders.STORED) {
      String parameter = "response-" + name;
      String value = query.get(parameter);
      if (value != null) {
        overrides.put(name, RequestHeaders.headerValue(parameter, value));
      }
    }
    return overrides;
  }

  private S3Request uploadPart() throws S3Exception {
    int partNumber = partNumber();
    RequestHeaders.requireLengthOrChunks(headers);
    return new S3Request.UploadPart(
        bucket,
        key,
        uploadId(),
        partNumber,
        Checksums.announced(headers),
        CustomerFields.of(headers));
  }

  private S3Request uploadPartCopy() throws S3Exception {
    return new S3Request.UploadPartCopy(
        bucket,
        key,
        uploadId(),
        partNumber(),
        copySource(),
        copyRange(),
        CustomerFields.of(headers));
  }

  private String uploadId() throws S3Exception {
    String uploadId = query.get("uploadId");
    if (uploadId == null || uploadId.isEmpty()) {
      throw S3Exception.invalidArgument(
          "This operation does not accept a query-string without uploadId.", "uploadId", "");
    }
    return uploadId;
  }

  private int partNumber() throws S3Exception {
    String text = query.get("partNumber", "");
    long number = Query.integer(text, 1, PARTS_MAX);
    if (number < 0) {
      throw S3Exception.invalidArgument(
          "Part number must be an integer between 1 and 10000, inclusive", "partNumber", text);
    }
    return (int) number;
  }

  private @Nullable ByteRange copyRange() throws S3Exception {
    String header = headers.get(COPY_SOURCE_RANGE);
    if (header == null) {
      return null;
    }
    RangeSpec range = RangeSpec.parse(header);
    if (range == null || range.first() < 0 || range.last() == Long.MAX_VALUE) {
      throw S3Exception.invalidArgument(
          "The x-amz-copy-source-range value must be of the form bytes=first-last where first and"
              + " last are the zero-based offsets of the first and last bytes to copy",
          COPY_SOURCE_RANGE,
          header);
    }
    return new ByteRange(range.first(), range.last() - range.first() + 1);
  }

  /** Only parts are made from a range, and only bodies are appended. */
  private void requireWholeCopy() throws S3Exception {
    if (query.has("append")) {
      throw S3Exception.unsupportedHeader(COPY_SOURCE);
    }
    if (headers.contains(COPY_SOURCE_RANGE)) {
      throw S3Exception.unsupportedHeader(COPY_SOURCE_RANGE);
    }
  }

  private S3Request copy() throws S3Exception {
    String directive = headers.get("x-amz-metadata-directive", "COPY");
    if (!directive.equals("COPY") && !directive.equals("REPLACE")) {
      throw S3Exception.invalidArgument(
          "Unknown metadata directive.", "x-amz-metadata-directive", directive);
    }
    boolean copiesTags = copiesTags();
    String checksum = headers.get("x-amz-checksum-algorithm");
    return new S3Request.CopyObject(
        bucket,
        key,
        copySource(),
        CopiedAttributes.of(headers, directive.equals("REPLACE")),
        storageClass(),
        copiesTags,
        copiesTags ? NewFacts.of(headers).withoutTags() : NewFacts.of(headers),
        RequestHeaders.writeCondition(headers),
        checksum == null ? ChecksumAlgorithm.CHECKSUM_NONE : Checksums.named(checksum),
        AclHeaders.parse(headers),
        EncryptionFields.of(headers));
  }

  private boolean copiesTags() throws S3Exception {
    String directive = headers.get("x-amz-tagging-directive", "COPY");
    return switch (directive) {
      case "COPY" -> true;
      case "REPLACE" -> false;
      default ->
          throw S3Exception.invalidArgument(
              "Unknown tagging directive.", "x-amz-tagging-directive", directive);
    };
  }

  /** {@code /bucket/key} or {@code bucket/key}, percent-encoded, perhaps with a version. */
  private CopySource copySource() throws S3Exception {
    String raw = headers.get(COPY_SOURCE, "");
    int question = raw.indexOf('?');
    String path = question < 0 ? raw : raw.substring(0, question);
    String versionId =
        question < 0 ? null : Query.parse(raw.substring(question + 1)).get("versionId");
    // Some clients encode the slash behind the bucket, too.
    String decoded = Percent.decode(path, false);
    int start = decoded.startsWith("/") ? 1 : 0;
    int slash = decoded.indexOf('/', start);
    if (slash <= start || slash == decoded.length() - 1) {
      throw S3Exception.invalidArgument(
          "Copy Source must mention the source bucket and key: sourcebucket/sourcekey",
          COPY_SOURCE,
          raw);
    }
    return new CopySource(
        answers.bucket(decoded.substring(start, slash)),
        decoded.substring(slash + 1),
        VersionId.parse("versionId", versionId),
        Conditions.of(headers, Conditions.Names.COPY_SOURCE),
        headers.get("x-amz-source-expected-bucket-owner"),
        CustomerFields.ofSource(headers));
  }

  private S3Request createUpload() throws S3Exception {
    String name = headers.get("x-amz-checksum-algorithm");
    String typeName = headers.get("x-amz-checksum-type");
    ChecksumAlgorithm algorithm =
        name == null ? ChecksumAlgorithm.CHECKSUM_NONE : Checksums.named(name);
    if (typeName != null && name == null) {
      throw S3Exception.invalidRequest(
          "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm"
              + " header.");
    }
    ChecksumType type =
        typeName == null ? Checksums.defaultType(algorithm) : checksumType(typeName);
    Checksums.requireCompatible(algorithm, type);
    return new S3Request.CreateMultipartUpload(
        bucket,
        key,
        RequestHeaders.attributes(headers),
        storageClass(),
        NewFacts.of(headers),
        algorithm,
        type,
        AclHeaders.parse(headers),
        EncryptionFields.of(headers));
  }

  private static ChecksumType checksumType(String name) throws S3Exception {
    return switch (name) {
      case "COMPOSITE" -> ChecksumType.CHECKSUM_COMPOSITE;
      case "FULL_OBJECT" -> ChecksumType.CHECKSUM_FULL_OBJECT;
      default ->
          throw S3Exception.invalidRequest("Value for x-amz-checksum-type header is invalid.");
    };
  }

  private S3Request completeUpload() throws S3Exception {
    String size = headers.get("x-amz-mp-object-size");
    String type = headers.get("x-amz-checksum-type");
    return new S3Request.CompleteMultipartUpload(
        bucket,
        key,
        uploadId(),
        RequestHeaders.writeCondition(headers),
        size == null ? -1 : objectSize(size),
        expectedChecksum(),
        type == null ? null : checksumType(type),
        CustomerFields.of(headers));
  }

  private @Nullable ExpectedChecksum expectedChecksum() throws S3Exception {
    for (ChecksumKind kind : ChecksumKind.ALL) {
      String value = kind.in(headers);
      if (value != null) {
        Checksums.requireWellFormed(kind, value.trim());
        return new ExpectedChecksum(kind.algorithm(), value.trim());
      }
    }
    return null;
  }

  private static long objectSize(String text) throws S3Exception {
    long size = Query.integer(text.trim(), 0, Long.MAX_VALUE);
    if (size < 0) {
      throw S3Exception.invalidRequest("Value for x-amz-mp-object-size header is invalid.");
    }
    return size;
  }

  private Set<ObjectAttribute> attributes() throws S3Exception {
    Set<ObjectAttribute> wanted = EnumSet.noneOf(ObjectAttribute.class);
    for (String header : headers.getAll("x-amz-object-attributes")) {
      for (String name : header.split(",", -1)) {
        wanted.add(attribute(name.trim()));
      }
    }
    if (wanted.isEmpty()) {
      throw S3Exception.invalidRequest(
          "The x-amz-object-attributes header specifying the attributes to be retrieved is either"
              + " missing or empty");
    }
    return wanted;
  }

  private static ObjectAttribute attribute(String name) throws S3Exception {
    for (ObjectAttribute attribute : ObjectAttribute.values()) {
      if (attribute.text().equals(name)) {
        return attribute;
      }
    }
    throw S3Exception.invalidArgument(
        "Invalid attribute name specified.", "x-amz-object-attributes", name);
  }

  private int headerNumber(String name, int otherwise, int max) throws S3Exception {
    String text = headers.get(name);
    if (text == null) {
      return otherwise;
    }
    return Math.min(Query.number(name, text.trim()), max);
  }
}
