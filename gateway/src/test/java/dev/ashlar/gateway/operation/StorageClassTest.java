package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.move.VersionMover;
import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetBucketStorageClass;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A storage class is the name of a profile: 0 is the store's first one, 1 that of HOT. */
class StorageClassTest {
  private static final String CLASS = "x-amz-storage-class";
  private static final String SOURCE = "x-amz-copy-source";
  private static final byte[] BODY = TestS3.randomBytes(100_000, 1);
  private static final byte[] PART = TestS3.randomBytes(TestS3.PART, 2);

  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void addProfile() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    apply(TestProfiles.add(s3.metadata, "HOT", new Profile(2, 2, Profile.DEFAULT_STRIPE_UNIT), 8));
  }

  private void apply(Command.Builder command) throws Exception {
    assertEquals(ResultCode.OK, s3.metadata.submit(command).getCode());
  }

  private static TestRequest put(String uri, byte[] body) {
    return TestS3.request("PUT", uri).body(body);
  }

  private static TestRequest hot(TestRequest request) {
    return request.header(CLASS, "HOT");
  }

  private static TestRequest copy(String source, String target) {
    return TestS3.request("PUT", target).header(SOURCE, source);
  }

  private ObjectRecord object(String key) throws Exception {
    return s3.metadata.object("bkt", key).orElseThrow().object();
  }

  private void assertProfiles(String key, Integer... expected) throws Exception {
    assertEquals(
        List.of(expected),
        object(key).getSlicesList().stream()
            .map(slice -> BlobId.of(slice.getBlob()).profile())
            .distinct()
            .toList());
  }

  /** As GET and HEAD tell it: nothing for STANDARD. */
  private String classOf(String key) throws Exception {
    String told = s3.ok(200, "GET", "/bkt/" + key).header(CLASS);
    assertEquals(told, s3.ok(200, "HEAD", "/bkt/" + key).header(CLASS));
    return told;
  }

  private String begin(String key, String... header) throws Exception {
    TestRequest create = TestS3.request("POST", "/bkt/" + key + "?uploads");
    for (int i = 0; i < header.length; i += 2) {
      create.header(header[i], header[i + 1]);
    }
    return s3.ok(200, create).element("UploadId");
  }

  private static String part(String key, int number, String upload) {
    return "/bkt/" + key + "?partNumber=" + number + "&uploadId=" + upload;
  }

  private void complete(String key, String upload, String... etags) throws Exception {
    StringBuilder parts = new StringBuilder();
    IntStream.rangeClosed(1, etags.length)
        .forEach(
            number ->
                parts
                    .append("<Part><PartNumber>" + number + "</PartNumber>")
                    .append("<ETag>" + etags[number - 1] + "</ETag></Part>"));
    s3.ok(
        200,
        TestS3.request("POST", "/bkt/" + key + "?uploadId=" + upload)
            .body("<CompleteMultipartUpload>" + parts + "</CompleteMultipartUpload>"));
  }

  private void setClassOfBucket(String name) throws Exception {
    apply(
        Command.newBuilder()
            .setSetBucketStorageClass(
                SetBucketStorageClass.newBuilder().setBucket("bkt").setStorageClass(name)));
  }

  @Test
  void withoutAClassThatOfTheBucketCounts() throws Exception {
    s3.ok(200, put("/bkt/before", BODY));
    setClassOfBucket("HOT");
    s3.ok(200, put("/bkt/plain", BODY));
    s3.ok(200, put("/bkt/standard", BODY).header(CLASS, "STANDARD"));
    s3.ok(200, copy("/bkt/before", "/bkt/copy"));
    String upload = begin("parts");
    String etag = s3.ok(200, put(part("parts", 1, upload), BODY)).header("ETag");
    complete("parts", upload, etag);
    assertProfiles("before", 0);
    assertProfiles("plain", 1);
    assertProfiles("standard", 0);
    assertProfiles("copy", 1);
    assertProfiles("parts", 1);
    assertEquals("HOT", classOf("plain"));
    assertEquals("", classOf("standard"));
    assertEquals("HOT", classOf("copy"));
    assertEquals("HOT", classOf("parts"));
    setClassOfBucket("");
    s3.ok(200, put("/bkt/plain", BODY));
    assertProfiles("plain", 0);
  }

  @Test
  void aClassPicksTheProfile() throws Exception {
    s3.ok(200, hot(put("/bkt/hot", BODY)));
    s3.ok(200, put("/bkt/plain", BODY));
    s3.ok(200, put("/bkt/standard", BODY).header(CLASS, "STANDARD"));
    assertProfiles("hot", 1);
    assertProfiles("plain", 0);
    assertProfiles("standard", 0);
    assertEquals("HOT", classOf("hot"));
    assertEquals("", classOf("plain"));
    assertEquals("", classOf("standard"));
    assertArrayEquals(BODY, s3.ok(200, "GET", "/bkt/hot").body());
    s3.ok(200, put("/bkt/hot", BODY));
    assertEquals("", classOf("hot"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"GLACIER", "hot", "HOT,HOT", "", "STANDARD_IA"})
  void unknownClassesAreRefused(String name) throws Exception {
    TestAnswer put = s3.send(put("/bkt/k", BODY).header(CLASS, name));
    assertEquals("InvalidStorageClass", put.code());
    assertEquals(name, put.detail("StorageClassRequested"));
    s3.refused("InvalidStorageClass", TestS3.request("POST", "/bkt/k?uploads").header(CLASS, name));
    s3.ok(200, put("/bkt/source", BODY));
    s3.refused("InvalidStorageClass", copy("/bkt/source", "/bkt/k").header(CLASS, name));
    s3.refused("NoSuchKey", "GET", "/bkt/k");
  }

  @Test
  void removedClassesAreRefused() throws Exception {
    apply(TestProfiles.remove(s3.metadata, 1));
    s3.refused("InvalidStorageClass", hot(put("/bkt/k", BODY)));
    s3.refused("InvalidStorageClass", hot(TestS3.request("POST", "/bkt/k?uploads")));
  }

  @Test
  void anEmptyObjectOutlivesItsClass() throws Exception {
    s3.ok(200, hot(put("/bkt/k", new byte[0])));
    apply(TestProfiles.remove(s3.metadata, 1));
    assertEquals("HOT", classOf("k"));
    s3.ok(200, put("/bkt/k?append&position=0", BODY));
    assertProfiles("k", 0);
    s3.ok(200, copy("/bkt/k", "/bkt/k").header(CLASS, "STANDARD"));
    assertEquals("", classOf("k"));
  }

  @Test
  void standardIsTheDefaultProfile() throws Exception {
    apply(TestProfiles.setDefault(s3.metadata, 1));
    s3.ok(200, put("/bkt/plain", BODY));
    s3.ok(200, put("/bkt/first", BODY).header(CLASS, "FIRST"));
    s3.ok(200, hot(put("/bkt/hot", BODY)));
    assertProfiles("plain", 1);
    assertProfiles("first", 0);
    assertProfiles("hot", 1);
    assertEquals("", classOf("plain"));
    assertEquals("FIRST", classOf("first"));
    assertEquals("HOT", classOf("hot"));
    int blobs = s3.store.blobCount();
    s3.ok(200, copy("/bkt/hot", "/bkt/copy"));
    assertEquals("", classOf("copy"));
    assertEquals(blobs, s3.store.blobCount(), "its blobs are of the default profile already");
  }

  @Test
  void listingsTellTheClass() throws Exception {
    s3.ok(200, hot(put("/bkt/a", BODY)));
    s3.ok(200, put("/bkt/b", BODY));
    List<String> classes = List.of("HOT", "STANDARD");
    assertEquals(classes, s3.ok(200, "GET", "/bkt").each("Contents", "StorageClass"));
    assertEquals(classes, s3.ok(200, "GET", "/bkt?list-type=2").each("Contents", "StorageClass"));
    assertEquals(classes, s3.ok(200, "GET", "/bkt?versions").each("Version", "StorageClass"));
    TestAnswer attributes =
        s3.ok(
            200,
            TestS3.request("GET", "/bkt/a?attributes")
                .header("x-amz-object-attributes", "StorageClass"));
    assertEquals("HOT", attributes.element("StorageClass"));
  }

  /** As operators move it: it stays the same version. */
  private void move(String key, String storageClass) throws Exception {
    VersionMover.Order order =
        new VersionMover.Order("bkt", key, VersionRef.getDefaultInstance(), 0, storageClass);
    VersionMover.Follower follower =
        new VersionMover.Follower() {
          @Override
          public ByteRateLimiter rate() {
            return new ByteRateLimiter(0);
          }

          @Override
          public boolean goesOn() {
            return true;
          }

          @Override
          public void moved(long bytes) {}
        };
    assertEquals(
        VersionMover.Outcome.MOVED, new VersionMover(s3.metadata, s3.store).move(order, follower));
  }

  @Test
  void aMovedObjectIsTheSameForClients() throws Exception {
    s3.ok(200, put("/bkt/k", BODY));
    TestAnswer before = s3.ok(200, "HEAD", "/bkt/k");
    String etag = before.header("ETag");
    move("k", "HOT");
    assertProfiles("k", 1);
    assertEquals("HOT", classOf("k"));
    TestAnswer after = s3.ok(200, TestS3.request("GET", "/bkt/k").header("If-Match", etag));
    assertArrayEquals(BODY, after.body());
    assertEquals(etag, after.header("ETag"));
    assertEquals(before.header("Last-Modified"), after.header("Last-Modified"));
    assertEquals(List.of("HOT"), s3.ok(200, "GET", "/bkt").each("Contents", "StorageClass"));
    int blobs = s3.store.blobCount();
    s3.ok(200, hot(copy("/bkt/k", "/bkt/copy")));
    String upload = begin("part", CLASS, "HOT");
    s3.ok(200, copy("/bkt/k", part("part", 1, upload)));
    assertEquals(blobs, s3.store.blobCount(), "both share its blobs");
    s3.ok(200, put("/bkt/k?append&position=" + BODY.length, BODY));
    assertProfiles("k", 1);
    s3.ok(200, hot(copy("/bkt/k", "/bkt/copy")));
    assertEquals(2 * BODY.length, s3.ok(200, "GET", "/bkt/copy").body().length);
  }

  @Test
  void uploadsKeepTheirClass() throws Exception {
    s3.ok(200, put("/bkt/plain", PART));
    s3.ok(200, hot(put("/bkt/warm", PART)));
    String upload = begin("k", CLASS, "HOT");
    String first = s3.ok(200, put(part("k", 1, upload), PART)).header("ETag");
    int blobs = s3.store.blobCount();
    TestAnswer copied = s3.ok(200, copy("/bkt/plain", part("k", 2, upload)));
    assertEquals(first, copied.element("ETag"), "MD5 of the bytes");
    assertEquals(blobs + 1, s3.store.blobCount());
    String shared = s3.ok(200, copy("/bkt/warm", part("k", 3, upload))).element("ETag");
    assertEquals(blobs + 1, s3.store.blobCount(), "of the same profile");
    String range =
        s3.ok(
                200,
                copy("/bkt/plain", part("k", 4, upload))
                    .header("x-amz-copy-source-range", "bytes=1-1000"))
            .element("ETag");
    assertEquals("HOT", s3.ok(200, "GET", "/bkt/k?uploadId=" + upload).element("StorageClass"));
    assertEquals(List.of("HOT"), s3.ok(200, "GET", "/bkt?uploads").each("Upload", "StorageClass"));
    complete("k", upload, first, copied.element("ETag"), shared, range);
    assertProfiles("k", 1);
    assertEquals("HOT", classOf("k"));
    byte[] got = s3.ok(200, "GET", "/bkt/k").body();
    assertEquals(3 * PART.length + 1000, got.length);
    assertEquals(PART[1], got[3 * PART.length]);
    assertArrayEquals(PART, s3.ok(206, TestS3.request("GET", "/bkt/k?partNumber=2")).body());
  }

  @Test
  void partsOfPlainUploadsGetTheDefaultProfile() throws Exception {
    s3.ok(200, hot(put("/bkt/warm", PART)));
    String upload = begin("k");
    String copied = s3.ok(200, copy("/bkt/warm", part("k", 1, upload))).element("ETag");
    assertEquals(
        "STANDARD", s3.ok(200, "GET", "/bkt/k?uploadId=" + upload).element("StorageClass"));
    complete("k", upload, copied);
    assertProfiles("k", 0);
    assertEquals("", classOf("k"));
  }

  @Test
  void copiesToAnotherClassHaveBlobsOfTheirOwn() throws Exception {
    s3.ok(
        200,
        put("/bkt/k", BODY)
            .header("x-amz-meta-m", "1")
            .header("Content-Type", "t/t")
            .header("x-amz-tagging", "a=b"));
    int blobs = s3.store.blobCount();
    TestAnswer copied = s3.ok(200, hot(copy("/bkt/k", "/bkt/hot")));
    assertEquals(blobs + 1, s3.store.blobCount());
    TestAnswer source = s3.ok(200, "HEAD", "/bkt/k");
    assertEquals(source.header("ETag"), copied.element("ETag"));
    assertProfiles("hot", 1);
    TestAnswer got =
        s3.ok(200, TestS3.request("GET", "/bkt/hot").header("x-amz-checksum-mode", "ENABLED"));
    assertArrayEquals(BODY, got.body());
    assertEquals("HOT", got.header(CLASS));
    assertEquals("1", got.header("x-amz-meta-m"));
    assertEquals("t/t", got.header("Content-Type"));
    assertEquals("1", got.header("x-amz-tagging-count"));
    assertEquals(copied.element("ChecksumCRC64NVME"), got.header("x-amz-checksum-crc64nvme"));
    assertEquals(object("k").getSummary().getChecksum(), object("hot").getSummary().getChecksum());

    s3.ok(200, hot(copy("/bkt/hot", "/bkt/hotter")));
    assertEquals(blobs + 1, s3.store.blobCount(), "within a class no data moves");
    assertEquals("HOT", classOf("hotter"));
    s3.ok(200, copy("/bkt/hot", "/bkt/plain"));
    assertEquals(blobs + 2, s3.store.blobCount());
    assertProfiles("plain", 0);
    assertEquals("", classOf("plain"));
  }

  @Test
  void anotherClassIsAChangeOfTheObjectItself() throws Exception {
    s3.ok(200, put("/bkt/k", BODY).header("x-amz-meta-m", "1"));
    s3.refused("InvalidRequest", copy("/bkt/k", "/bkt/k"));
    s3.ok(200, hot(copy("/bkt/k", "/bkt/k")));
    assertEquals("HOT", classOf("k"));
    assertProfiles("k", 1);
    s3.refused("InvalidRequest", copy("/bkt/k", "/bkt/k"));
    s3.ok(200, hot(copy("/bkt/k", "/bkt/k")));
    s3.ok(200, copy("/bkt/k", "/bkt/k").header(CLASS, "STANDARD"));
    assertEquals("", classOf("k"));
    assertProfiles("k", 0);
    TestAnswer got = s3.ok(200, "GET", "/bkt/k");
    assertArrayEquals(BODY, got.body());
    assertEquals("1", got.header("x-amz-meta-m"));
  }

  @Test
  void aReencodedMultipartObjectIsAPlainOne() throws Exception {
    String upload = begin("k", "x-amz-checksum-algorithm", "SHA256");
    String first = s3.ok(200, put(part("k", 1, upload), PART)).header("ETag");
    String second = s3.ok(200, put(part("k", 2, upload), BODY)).header("ETag");
    complete("k", upload, first, second);
    s3.ok(200, hot(copy("/bkt/k", "/bkt/hot")));
    byte[] whole = s3.ok(200, "GET", "/bkt/hot").body();
    s3.ok(200, put("/bkt/plain", whole).header("x-amz-sdk-checksum-algorithm", "SHA256"));
    assertEquals(
        s3.ok(200, "HEAD", "/bkt/plain").header("ETag"),
        s3.ok(200, "HEAD", "/bkt/hot").header("ETag"));
    assertEquals(
        TestAuthenticator.base64(object("hot").getSummary().getChecksum().getAlgorithm(), whole),
        s3.ok(200, TestS3.request("HEAD", "/bkt/hot").header("x-amz-checksum-mode", "ENABLED"))
            .header("x-amz-checksum-sha256"));
    TestAnswer ofPart = s3.ok(206, TestS3.request("GET", "/bkt/hot?partNumber=1"));
    assertEquals(whole.length, ofPart.body().length);
    assertFalse(ofPart.headers().contains("x-amz-mp-parts-count"));
  }

  @Test
  void whatIsThereNowIsCopied() throws Exception {
    s3.ok(200, put("/bkt/k", PART));
    s3.store.failReads(Reason.GONE, 1, 2);
    s3.ok(200, hot(copy("/bkt/k", "/bkt/hot")));
    assertArrayEquals(PART, s3.ok(200, "GET", "/bkt/hot").body());
    int blobs = s3.store.blobCount();
    s3.store.failReads(Reason.GONE, 1, 100);
    s3.refused("ServiceUnavailable", hot(copy("/bkt/k", "/bkt/never")));
    s3.store.failReads(Reason.TOO_FEW_DRIVES, 1, 1);
    s3.refused("ServiceUnavailable", hot(copy("/bkt/k", "/bkt/never")));
    assertEquals(blobs, s3.store.blobCount());
  }

  @Test
  void refusedCopiesLeaveNothing() throws Exception {
    s3.ok(200, put("/bkt/k", BODY));
    s3.ok(200, put("/bkt/target", BODY));
    int blobs = s3.store.blobCount();
    s3.store.beforeCommit(
        () -> {
          try {
            s3.ok(204, "DELETE", "/bkt/target");
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        });
    String etag = s3.ok(200, "HEAD", "/bkt/target").header("ETag");
    s3.refused("NoSuchKey", hot(copy("/bkt/k", "/bkt/target")).header("If-Match", etag));
    assertEquals(blobs, s3.store.blobCount());
  }

  @Test
  void changesKeepTheClass() throws Exception {
    s3.ok(200, hot(put("/bkt/k?append&position=0", BODY)));
    assertProfiles("k", 1);
    s3.ok(200, put("/bkt/k?append&position=100000", BODY));
    s3.ok(
        200,
        TestS3.request("PATCH", "/bkt/k").header("Content-Range", "bytes 10-12/*").body("abc"));
    s3.ok(200, hot(put("/bkt/k", BODY).header("x-amz-write-offset-bytes", "200000")));
    assertProfiles("k", 1);
    assertEquals("HOT", classOf("k"));
    for (String other : List.of("STANDARD", "GLACIER")) {
      s3.refused(
          "InvalidStorageClass", put("/bkt/k?append&position=300000", BODY).header(CLASS, other));
      s3.refused(
          "InvalidStorageClass",
          TestS3.request("PATCH", "/bkt/k")
              .header("Content-Range", "bytes 10-12/*")
              .header(CLASS, other)
              .body("abc"));
    }
    assertEquals(300_000, object("k").getSummary().getSize());
    s3.ok(200, TestS3.request("PUT", "/bkt/new?renameObject").header("x-amz-rename-source", "/k"));
    assertEquals("HOT", classOf("new"));
    assertProfiles("new", 1);
  }
}
