package dev.ashlar.it.client;

import static dev.ashlar.it.harness.S3Failures.assertFails;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.ChecksumMode;
import software.amazon.awssdk.services.s3.model.Delete;
import software.amazon.awssdk.services.s3.model.DeleteObjectsResponse;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.MetadataDirective;
import software.amazon.awssdk.services.s3.model.ObjectAttributes;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;

/** Single objects through the synchronous AWS SDK client with its default checksums. */
@ExtendWith(SharedServer.class)
class SdkObjectIT {
  private final S3Client s3;
  private final String bucket;
  private final long seed = Seeds.seed("SdkObjectIT");

  SdkObjectIT(ServerProcess server) {
    s3 = Clients.sync(server);
    bucket = Buckets.create(s3, "objects");
  }

  @AfterAll
  void close() {
    s3.close();
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        0,
        1,
        4095,
        4096,
        4097,
        5120,
        16383,
        16384,
        16385,
        65535,
        65536,
        65537,
        1 << 20,
        10_000_019
      })
  void objectOfEverySizeComesBack(int length) {
    Content content = new Content(seed + length, length);
    String key = "size/" + length;
    PutObjectResponse put = put(key, content);
    ResponseBytes<GetObjectResponse> got = get(key);
    assertEquals(content.sha256(), Content.sha256(got.asByteArrayUnsafe()));
    String md5 = "\"" + HexFormat.of().formatHex(Content.digest("MD5", content.bytes())) + "\"";
    assertEquals(md5, put.eTag());
    assertEquals(md5, got.response().eTag());
    assertEquals(length, got.response().contentLength());
    assertEquals("bytes", got.response().acceptRanges());
    HeadObjectResponse head = s3.headObject(b -> b.bucket(bucket).key(key));
    assertEquals(length, head.contentLength());
    assertEquals(md5, head.eTag());
    assertEquals(got.response().lastModified(), head.lastModified());
  }

  @Test
  void overwriteAndDelete() {
    put("again", new Content(seed, 70_000));
    Content second = new Content(seed + 1, 3);
    put("again", second);
    assertEquals(second.sha256(), Content.sha256(get("again").asByteArrayUnsafe()));
    s3.deleteObject(b -> b.bucket(bucket).key("again"));
    assertFails(404, "NoSuchKey", () -> get("again"));
    s3.deleteObject(b -> b.bucket(bucket).key("again")); // deleting what is not there succeeds
  }

  /** The others need the SDK's native library here; boto3 and the aws cli cover them. */
  @ParameterizedTest
  @EnumSource(
      value = ChecksumAlgorithm.class,
      names = {"CRC32", "CRC32_C", "SHA1", "SHA256", "SHA512"})
  void checksumsAreStoredAndReturned(ChecksumAlgorithm algorithm) {
    String key = "checksum/" + algorithm;
    byte[] bytes = new Content(seed, 40_000).bytes();
    PutObjectResponse put =
        s3.putObject(
            b -> b.bucket(bucket).key(key).checksumAlgorithm(algorithm),
            RequestBody.fromBytes(bytes));
    HeadObjectResponse head =
        s3.headObject(b -> b.bucket(bucket).key(key).checksumMode(ChecksumMode.ENABLED));
    String sent = put.getValueForField("Checksum" + algorithm, String.class).orElseThrow();
    assertEquals(sent, head.getValueForField("Checksum" + algorithm, String.class).orElseThrow());
    assertEquals("FULL_OBJECT", head.checksumTypeAsString());
    assertArrayEquals(bytes, get(key).asByteArray()); // the SDK verifies what it gets by default
  }

  @Test
  void metadataAndStandardHeadersRoundTrip() {
    Map<String, String> user = new LinkedHashMap<>();
    user.put("colour", "blue");
    user.put("long", "x".repeat(1500));
    user.put("spaces", "a  b c");
    s3.putObject(
        b ->
            b.bucket(bucket)
                .key("meta")
                .metadata(user)
                .contentType("text/x-ashlar; charset=utf-8")
                .cacheControl("max-age=60")
                .contentDisposition("attachment; filename=\"a.txt\"")
                .contentEncoding("gzip")
                .contentLanguage("de")
                .expires(Instant.ofEpochSecond(2_000_000_000)),
        RequestBody.fromString("hello"));
    HeadObjectResponse head = s3.headObject(b -> b.bucket(bucket).key("meta"));
    assertEquals(user, head.metadata());
    assertEquals("text/x-ashlar; charset=utf-8", head.contentType());
    assertEquals("max-age=60", head.cacheControl());
    assertEquals("attachment; filename=\"a.txt\"", head.contentDisposition());
    assertEquals("gzip", head.contentEncoding());
    assertEquals("de", head.contentLanguage());
    assertEquals("Wed, 18 May 2033 03:33:20 GMT", head.expiresString());
  }

  @Test
  void responseHeadersCanBeOverridden() {
    put("override", new Content(seed, 10));
    GetObjectResponse response =
        s3.getObjectAsBytes(
                b ->
                    b.bucket(bucket)
                        .key("override")
                        .responseContentType("text/plain")
                        .responseCacheControl("no-store")
                        .responseContentDisposition("inline")
                        .responseContentEncoding("identity")
                        .responseContentLanguage("fr"))
            .response();
    assertEquals("text/plain", response.contentType());
    assertEquals("no-store", response.cacheControl());
    assertEquals("inline", response.contentDisposition());
    assertEquals("identity", response.contentEncoding());
    assertEquals("fr", response.contentLanguage());
  }

  @Test
  void conditionsOfReads() {
    PutObjectResponse put = put("read-if", new Content(seed, 100));
    String other = "\"00000000000000000000000000000000\"";
    Instant written = s3.headObject(b -> b.bucket(bucket).key("read-if")).lastModified();
    Instant before = written.minus(Duration.ofHours(1));
    Instant after = written.plus(Duration.ofSeconds(1));
    assertEquals(100, readIf(b -> b.ifMatch(put.eTag())));
    assertEquals(100, readIf(b -> b.ifNoneMatch(other)));
    assertEquals(100, readIf(b -> b.ifModifiedSince(before)));
    assertEquals(100, readIf(b -> b.ifUnmodifiedSince(after)));
    // RFC 9110 13.2.2: a matching If-Match wins over If-Unmodified-Since, likewise the other pair.
    assertEquals(100, readIf(b -> b.ifMatch(put.eTag()).ifUnmodifiedSince(before)));
    assertEquals(100, readIf(b -> b.ifNoneMatch(other).ifModifiedSince(written)));
    assertFails(412, "PreconditionFailed", () -> readIf(b -> b.ifMatch(other)));
    assertFails(412, "PreconditionFailed", () -> readIf(b -> b.ifUnmodifiedSince(before)));
    assertFails(304, () -> readIf(b -> b.ifNoneMatch(put.eTag())));
    assertFails(304, () -> readIf(b -> b.ifModifiedSince(written)));
    assertFails(304, () -> s3.headObject(b -> b.bucket(bucket).key("read-if").ifNoneMatch("*")));
  }

  private long readIf(
      java.util.function.Consumer<software.amazon.awssdk.services.s3.model.GetObjectRequest.Builder>
          condition) {
    return s3.getObjectAsBytes(b -> condition.accept(b.bucket(bucket).key("read-if")))
        .response()
        .contentLength();
  }

  @Test
  void conditionsOfWrites() {
    RequestBody body = RequestBody.fromString("1");
    String key = "write-if";
    String other = "\"00000000000000000000000000000000\"";
    assertFails(
        404, "NoSuchKey", () -> s3.putObject(b -> b.bucket(bucket).key(key).ifMatch(other), body));
    String eTag = s3.putObject(b -> b.bucket(bucket).key(key).ifNoneMatch("*"), body).eTag();
    assertFails(
        412,
        "PreconditionFailed",
        () -> s3.putObject(b -> b.bucket(bucket).key(key).ifNoneMatch("*"), body));
    assertFails(
        412,
        "PreconditionFailed",
        () -> s3.putObject(b -> b.bucket(bucket).key(key).ifMatch(other), body));
    s3.putObject(b -> b.bucket(bucket).key(key).ifMatch(eTag), RequestBody.fromString("2"));
    assertEquals("2", get(key).asUtf8String());
  }

  @Test
  void copyKeepsOrReplacesMetadata() {
    Content content = new Content(seed + 5, 200_000);
    s3.putObject(
        b -> b.bucket(bucket).key("src/ä +&.bin").metadata(Map.of("k", "v")).contentType("a/b"),
        RequestBody.fromBytes(content.bytes()));
    s3.copyObject(
        b ->
            b.sourceBucket(bucket)
                .sourceKey("src/ä +&.bin")
                .destinationBucket(bucket)
                .destinationKey("copy"));
    ResponseBytes<GetObjectResponse> copy = get("copy");
    assertEquals(content.sha256(), Content.sha256(copy.asByteArrayUnsafe()));
    assertEquals(Map.of("k", "v"), copy.response().metadata());
    assertEquals("a/b", copy.response().contentType());
    s3.copyObject(
        b ->
            b.sourceBucket(bucket)
                .sourceKey("copy")
                .destinationBucket(bucket)
                .destinationKey("copy")
                .metadataDirective(MetadataDirective.REPLACE)
                .metadata(Map.of("n", "w"))
                .contentType("c/d"));
    HeadObjectResponse replaced = s3.headObject(b -> b.bucket(bucket).key("copy"));
    assertEquals(Map.of("n", "w"), replaced.metadata());
    assertEquals("c/d", replaced.contentType());
    s3.deleteObject(b -> b.bucket(bucket).key("src/ä +&.bin"));
    assertEquals(content.sha256(), Content.sha256(get("copy").asByteArrayUnsafe()));
  }

  @Test
  void copyConditionsAndErrors() {
    String eTag = put("copy-src", new Content(seed, 9)).eTag();
    assertFails(
        400,
        "InvalidRequest", // a copy onto itself that changes nothing
        () ->
            s3.copyObject(
                b ->
                    b.sourceBucket(bucket)
                        .sourceKey("copy-src")
                        .destinationBucket(bucket)
                        .destinationKey("copy-src")));
    assertFails(
        404,
        "NoSuchKey",
        () ->
            s3.copyObject(
                b ->
                    b.sourceBucket(bucket)
                        .sourceKey("none")
                        .destinationBucket(bucket)
                        .destinationKey("x")));
    assertFails(
        412,
        "PreconditionFailed",
        () ->
            s3.copyObject(
                b ->
                    b.sourceBucket(bucket)
                        .sourceKey("copy-src")
                        .copySourceIfNoneMatch(eTag)
                        .destinationBucket(bucket)
                        .destinationKey("x")));
    s3.copyObject(
        b ->
            b.sourceBucket(bucket)
                .sourceKey("copy-src")
                .copySourceIfMatch(eTag)
                .destinationBucket(bucket)
                .destinationKey("x"));
    assertEquals(eTag, s3.headObject(b -> b.bucket(bucket).key("x")).eTag());
  }

  @Test
  void deleteObjectsReportsEachKey() {
    put("del/1", new Content(seed, 1));
    put("del/2", new Content(seed, 1));
    Delete two =
        Delete.builder()
            .objects(
                ObjectIdentifier.builder().key("del/1").build(),
                ObjectIdentifier.builder().key("del/none").build())
            .build();
    DeleteObjectsResponse deleted = s3.deleteObjects(b -> b.bucket(bucket).delete(two));
    assertEquals(2, deleted.deleted().size());
    assertTrue(deleted.errors().isEmpty());
    assertFails(404, "NoSuchKey", () -> get("del/1"));
    Delete quiet =
        Delete.builder()
            .quiet(true)
            .objects(ObjectIdentifier.builder().key("del/2").build())
            .build();
    assertTrue(s3.deleteObjects(b -> b.bucket(bucket).delete(quiet)).deleted().isEmpty());
    assertFails(404, () -> s3.headObject(b -> b.bucket(bucket).key("del/2")));
  }

  @Test
  void attributesOfAPlainObject() {
    byte[] bytes = new Content(seed, 33_000).bytes();
    String eTag =
        s3.putObject(
                b -> b.bucket(bucket).key("attributes").checksumAlgorithm(ChecksumAlgorithm.SHA256),
                RequestBody.fromBytes(bytes))
            .eTag();
    var attributes =
        s3.getObjectAttributes(
            b ->
                b.bucket(bucket)
                    .key("attributes")
                    .objectAttributes(
                        ObjectAttributes.E_TAG,
                        ObjectAttributes.OBJECT_SIZE,
                        ObjectAttributes.CHECKSUM,
                        ObjectAttributes.STORAGE_CLASS));
    assertEquals(33_000, attributes.objectSize());
    assertEquals(eTag.replace("\"", ""), attributes.eTag());
    assertEquals("STANDARD", attributes.storageClassAsString());
    assertEquals(
        java.util.Base64.getEncoder().encodeToString(Content.digest("SHA-256", bytes)),
        attributes.checksum().checksumSHA256());
    assertNull(attributes.objectParts());
  }

  @Test
  void partNumberOneOfAPlainObjectIsTheObject() {
    put("part-one", new Content(seed, 77));
    var response = s3.getObject(b -> b.bucket(bucket).key("part-one").partNumber(1));
    assertEquals(77, response.response().contentLength());
    assertFails(416, () -> s3.headObject(b -> b.bucket(bucket).key("part-one").partNumber(2)));
  }

  private PutObjectResponse put(String key, Content content) {
    return s3.putObject(b -> b.bucket(bucket).key(key), RequestBody.fromBytes(content.bytes()));
  }

  private ResponseBytes<GetObjectResponse> get(String key) {
    return s3.getObjectAsBytes(b -> b.bucket(bucket).key(key));
  }
}
