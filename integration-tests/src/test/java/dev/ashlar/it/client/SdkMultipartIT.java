package dev.ashlar.it.client;

import static dev.ashlar.it.harness.S3Failures.assertFails;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.CompletedMultipartUpload;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.ListPartsResponse;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.ObjectAttributes;
import software.amazon.awssdk.services.s3.model.Part;

/** Multipart uploads through the AWS SDK. */
@ExtendWith(SharedServer.class)
class SdkMultipartIT {
  private static final int MIB = 1 << 20;
  private static final int PART = 5 * MIB;

  private final S3Client s3;
  private final String bucket;
  private final long seed = Seeds.seed("SdkMultipartIT");

  SdkMultipartIT(ServerProcess server) {
    s3 = Clients.sync(server);
    bucket = Buckets.create(s3, "multipart");
  }

  @AfterAll
  void close() {
    s3.close();
  }

  @Test
  void hundredMebibytesInParts() {
    Content content = new Content(seed, 100 * MIB);
    byte[] bytes = content.bytes();
    String upload = create("large");
    List<CompletedPart> parts = new ArrayList<>();
    for (int offset = 0, number = 1; offset < bytes.length; offset += 8 * MIB, number++) {
      int end = Math.min(bytes.length, offset + 8 * MIB);
      parts.add(part("large", upload, number, Arrays.copyOfRange(bytes, offset, end)));
    }
    String eTag = complete("large", upload, parts);
    assertEquals(multipartETag(bytes, 8 * MIB), eTag);
    byte[] got = s3.getObjectAsBytes(b -> b.bucket(bucket).key("large")).asByteArrayUnsafe();
    assertEquals(Content.sha256(bytes), Content.sha256(got));
    assertRangesAcrossParts(bytes);
    var second = s3.getObjectAsBytes(b -> b.bucket(bucket).key("large").partNumber(13));
    assertArrayEquals(Arrays.copyOfRange(bytes, 96 * MIB, 100 * MIB), second.asByteArrayUnsafe());
    assertEquals(13, second.response().partsCount());
    assertFails(
        416,
        "InvalidPartNumber",
        () -> s3.getObject(b -> b.bucket(bucket).key("large").partNumber(14)));
  }

  private void assertRangesAcrossParts(byte[] bytes) {
    for (int boundary : new int[] {8 * MIB, 16 * MIB, 96 * MIB}) {
      for (int first = boundary - 1; first <= boundary + 1; first++) {
        int from = first;
        byte[] got =
            s3.getObjectAsBytes(
                    b ->
                        b.bucket(bucket)
                            .key("large")
                            .range("bytes=" + (from - 3) + "-" + (from + 70_000)))
                .asByteArrayUnsafe();
        assertArrayEquals(Arrays.copyOfRange(bytes, from - 3, from + 70_001), got);
      }
    }
  }

  @Test
  void partsInAnyOrderReplacedAndLeftOut() {
    String upload = create("order");
    byte[] third = new Content(seed + 3, 17).bytes();
    byte[] second = new Content(seed + 2, PART).bytes();
    CompletedPart p9 = part("order", upload, 9, third);
    part("order", upload, 5, new Content(seed + 9, PART + 5).bytes()); // left out of the completion
    part("order", upload, 2, new Content(seed + 1, PART).bytes()); // replaced by the next
    CompletedPart p2 = part("order", upload, 2, second);
    complete("order", upload, List.of(p2, p9));
    byte[] got = s3.getObjectAsBytes(b -> b.bucket(bucket).key("order")).asByteArrayUnsafe();
    assertArrayEquals(concat(second, third), got);
  }

  @Test
  void uploadPartCopyOfRangesAndWholes() {
    byte[] source = new Content(seed + 4, 12 * MIB + 345).bytes();
    s3.putObject(b -> b.bucket(bucket).key("source"), RequestBody.fromBytes(source));
    String upload = create("assembled");
    CompletedPart p1 = copyPart(upload, 1, "bytes=1-" + PART);
    CompletedPart p2 = copyPart(upload, 2, null);
    CompletedPart p3 = copyPart(upload, 3, "bytes=16383-16385");
    assertFails(400, "InvalidArgument", () -> copyPart(upload, 4, "bytes=0-" + source.length));
    complete("assembled", upload, List.of(p1, p2, p3));
    s3.deleteObject(b -> b.bucket(bucket).key("source"));
    byte[] expected =
        concat(
            Arrays.copyOfRange(source, 1, PART + 1),
            source,
            Arrays.copyOfRange(source, 16383, 16386));
    byte[] got = s3.getObjectAsBytes(b -> b.bucket(bucket).key("assembled")).asByteArrayUnsafe();
    assertArrayEquals(expected, got);
  }

  private CompletedPart copyPart(String upload, int number, @Nullable String range) {
    var result =
        s3.uploadPartCopy(
            b ->
                b.sourceBucket(bucket)
                    .sourceKey("source")
                    .destinationBucket(bucket)
                    .destinationKey("assembled")
                    .uploadId(upload)
                    .partNumber(number)
                    .copySourceRange(range));
    return CompletedPart.builder().partNumber(number).eTag(result.copyPartResult().eTag()).build();
  }

  @Test
  void listPartsPages() {
    String upload = create("paged");
    for (int number = 1; number <= 5; number++) {
      part("paged", upload, number * 7, new Content(seed, number).bytes());
    }
    ListPartsResponse first =
        s3.listParts(b -> b.bucket(bucket).key("paged").uploadId(upload).maxParts(2));
    assertTrue(first.isTruncated());
    assertEquals(14, first.nextPartNumberMarker());
    assertEquals(List.of(1L, 2L), first.parts().stream().map(Part::size).toList());
    List<Integer> all =
        s3
            .listPartsPaginator(b -> b.bucket(bucket).key("paged").uploadId(upload).maxParts(2))
            .parts()
            .stream()
            .map(Part::partNumber)
            .toList();
    assertEquals(List.of(7, 14, 21, 28, 35), all);
    abort("paged", upload);
  }

  @Test
  void abortedUploadsAreGone() {
    String upload = create("aborted");
    part("aborted", upload, 1, new byte[10]);
    abort("aborted", upload);
    assertFails(404, "NoSuchUpload", () -> part("aborted", upload, 2, new byte[10]));
    assertFails(404, "NoSuchUpload", () -> abort("aborted", "no-such-upload"));
    assertFails(
        404,
        "NoSuchUpload",
        () -> s3.listParts(b -> b.bucket(bucket).key("aborted").uploadId(upload)));
    assertFails(404, "NoSuchKey", () -> s3.getObject(b -> b.bucket(bucket).key("aborted")));
  }

  @Test
  void uploadsAreListedByPrefixAndDelimiter() {
    String fresh = Buckets.create(s3, "uploads");
    Map<String, String> ids = new java.util.TreeMap<>();
    for (String key : List.of("a/1", "a/2", "b", "c/3")) {
      ids.put(key, s3.createMultipartUpload(b -> b.bucket(fresh).key(key)).uploadId());
    }
    var all = s3.listMultipartUploads(b -> b.bucket(fresh));
    assertEquals(
        List.copyOf(ids.keySet()), all.uploads().stream().map(MultipartUpload::key).toList());
    var grouped = s3.listMultipartUploads(b -> b.bucket(fresh).delimiter("/"));
    assertEquals(List.of("b"), grouped.uploads().stream().map(MultipartUpload::key).toList());
    assertEquals(2, grouped.commonPrefixes().size());
    var paged = s3.listMultipartUploadsPaginator(b -> b.bucket(fresh).maxUploads(1)).uploads();
    assertEquals(List.copyOf(ids.values()), paged.stream().map(MultipartUpload::uploadId).toList());
    assertEquals(2, s3.listMultipartUploads(b -> b.bucket(fresh).prefix("a/")).uploads().size());
    ids.forEach((k, id) -> s3.abortMultipartUpload(b -> b.bucket(fresh).key(k).uploadId(id)));
    s3.deleteBucket(b -> b.bucket(fresh));
  }

  @Test
  void completionIsRefusedWhenPartsDoNotFit() {
    String upload = create("bad");
    CompletedPart small = part("bad", upload, 1, new byte[100]);
    CompletedPart two = part("bad", upload, 2, new byte[PART]);
    CompletedPart ghost = CompletedPart.builder().partNumber(3).eTag(two.eTag()).build();
    CompletedPart wrong = CompletedPart.builder().partNumber(2).eTag(small.eTag()).build();
    assertFails(400, "EntityTooSmall", () -> complete("bad", upload, List.of(small, two)));
    assertFails(400, "InvalidPartOrder", () -> complete("bad", upload, List.of(two, small)));
    assertFails(400, "InvalidPart", () -> complete("bad", upload, List.of(two, ghost)));
    assertFails(400, "InvalidPart", () -> complete("bad", upload, List.of(wrong)));
    assertFails(400, "MalformedXML", () -> complete("bad", upload, List.of()));
    assertFails(400, "InvalidArgument", () -> part("bad", upload, 10_001, new byte[1]));
    assertFails(400, "InvalidArgument", () -> part("bad", upload, 0, new byte[1]));
    complete("bad", upload, List.of(two));
    assertEquals(PART, s3.headObject(b -> b.bucket(bucket).key("bad")).contentLength());
  }

  @Test
  void compositeChecksumAndAttributes() {
    byte[] first = new Content(seed + 6, PART).bytes();
    byte[] second = new Content(seed + 7, 999).bytes();
    String upload =
        s3.createMultipartUpload(
                b ->
                    b.bucket(bucket)
                        .key("sha")
                        .checksumAlgorithm(ChecksumAlgorithm.SHA256)
                        .metadata(Map.of("a", "b")))
            .uploadId();
    List<CompletedPart> parts = new ArrayList<>();
    for (byte[] bytes : List.of(first, second)) {
      int number = parts.size() + 1;
      var done =
          s3.uploadPart(
              b ->
                  b.bucket(bucket)
                      .key("sha")
                      .uploadId(upload)
                      .partNumber(number)
                      .checksumAlgorithm(ChecksumAlgorithm.SHA256),
              RequestBody.fromBytes(bytes));
      parts.add(
          CompletedPart.builder()
              .partNumber(number)
              .eTag(done.eTag())
              .checksumSHA256(done.checksumSHA256())
              .build());
    }
    complete("sha", upload, parts);
    byte[] digests = concat(Content.digest("SHA-256", first), Content.digest("SHA-256", second));
    String expected =
        java.util.Base64.getEncoder().encodeToString(Content.digest("SHA-256", digests));
    var attributes =
        s3.getObjectAttributes(
            b ->
                b.bucket(bucket)
                    .key("sha")
                    .objectAttributes(
                        ObjectAttributes.CHECKSUM,
                        ObjectAttributes.OBJECT_PARTS,
                        ObjectAttributes.OBJECT_SIZE));
    assertEquals(expected, attributes.checksum().checksumSHA256().replaceAll("-2$", ""));
    assertEquals("COMPOSITE", attributes.checksum().checksumTypeAsString());
    assertEquals(2, attributes.objectParts().totalPartsCount());
    assertEquals(PART + 999L, attributes.objectSize());
    var head = s3.headObject(b -> b.bucket(bucket).key("sha"));
    assertEquals(Map.of("a", "b"), head.metadata());
    assertFalse(head.eTag().isEmpty());
  }

  private String create(String key) {
    return s3.createMultipartUpload(b -> b.bucket(bucket).key(key)).uploadId();
  }

  private CompletedPart part(String key, String upload, int number, byte[] bytes) {
    var done =
        s3.uploadPart(
            b -> b.bucket(bucket).key(key).uploadId(upload).partNumber(number),
            RequestBody.fromBytes(bytes));
    return CompletedPart.builder().partNumber(number).eTag(done.eTag()).build();
  }

  private String complete(String key, String upload, List<CompletedPart> parts) {
    var list = CompletedMultipartUpload.builder().parts(parts).build();
    return s3.completeMultipartUpload(
            b -> b.bucket(bucket).key(key).uploadId(upload).multipartUpload(list))
        .eTag();
  }

  private void abort(String key, String upload) {
    s3.abortMultipartUpload(b -> b.bucket(bucket).key(key).uploadId(upload));
  }

  private static String multipartETag(byte[] bytes, int partBytes) {
    ByteArrayOutputStream digests = new ByteArrayOutputStream();
    int parts = 0;
    for (int offset = 0; offset < bytes.length; offset += partBytes, parts++) {
      byte[] part = Arrays.copyOfRange(bytes, offset, Math.min(bytes.length, offset + partBytes));
      digests.writeBytes(Content.digest("MD5", part));
    }
    byte[] md5 = Content.digest("MD5", digests.toByteArray());
    return "\"" + HexFormat.of().formatHex(md5) + "-" + parts + "\"";
  }

  private static byte[] concat(byte[]... pieces) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] piece : pieces) {
      all.writeBytes(piece);
    }
    return all.toByteArray();
  }
}
