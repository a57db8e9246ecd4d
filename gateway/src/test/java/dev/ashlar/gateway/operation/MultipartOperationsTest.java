package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.PartRow;
import java.lang.reflect.Proxy;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MultipartOperationsTest {
  private static final byte[] FIRST = TestS3.randomBytes(TestS3.PART, 1);
  private static final byte[] LAST = TestS3.randomBytes(1000, 2);

  private TestS3 s3 = new TestS3();

  @BeforeEach
  void createBucket() throws Exception {
    s3.ok(200, "PUT", "/bkt");
  }

  private String begin(String... headers) throws Exception {
    TestRequest create = TestS3.request("POST", "/bkt/k?uploads");
    for (int i = 0; i < headers.length; i += 2) {
      create.header(headers[i], headers[i + 1]);
    }
    return s3.ok(200, create).element("UploadId");
  }

  private static TestRequest part(String upload, int number, byte[] body) {
    return TestS3.request("PUT", "/bkt/k?partNumber=" + number + "&uploadId=" + upload).body(body);
  }

  private String putPart(String upload, int number, byte[] body) throws Exception {
    return s3.ok(200, part(upload, number, body)).header("ETag");
  }

  private static TestRequest complete(String upload, String parts) {
    return TestS3.request("POST", "/bkt/k?uploadId=" + upload)
        .body("<CompleteMultipartUpload>" + parts + "</CompleteMultipartUpload>");
  }

  private static String named(int number, String etag) {
    return "<Part><PartNumber>" + number + "</PartNumber><ETag>" + etag + "</ETag></Part>";
  }

  private static byte[] both() {
    byte[] both = Arrays.copyOf(FIRST, FIRST.length + LAST.length);
    System.arraycopy(LAST, 0, both, FIRST.length, LAST.length);
    return both;
  }

  @Test
  void partsBecomeAnObject() throws Exception {
    String upload = begin("x-amz-meta-m", "1", "Content-Type", "t/t");
    s3.refused("NoSuchKey", "GET", "/bkt/k");
    String etag1 = putPart(upload, 1, FIRST);
    String etag7 = putPart(upload, 7, LAST);
    int blobs = s3.store.blobCount();
    TestAnswer done = s3.ok(200, complete(upload, named(1, etag1) + named(7, etag7)));
    assertEquals(blobs, s3.store.blobCount(), "completing moves no data");
    MessageDigest md5 = MessageDigest.getInstance("MD5");
    md5.update(MessageDigest.getInstance("MD5").digest(FIRST));
    md5.update(MessageDigest.getInstance("MD5").digest(LAST));
    String etag = '"' + HexFormat.of().formatHex(md5.digest()) + "-2\"";
    assertEquals(etag, done.element("ETag"));
    assertEquals("bkt", done.element("Bucket"));
    assertEquals("k", done.element("Key"));
    assertEquals("http://s3.test/bkt/k", done.element("Location"));
    assertEquals(
        TestAuthenticator.base64(ChecksumAlgorithm.CHECKSUM_CRC64NVME, both()),
        done.element("ChecksumCRC64NVME"));
    assertEquals("FULL_OBJECT", done.element("ChecksumType"));

    TestAnswer got = s3.ok(200, "GET", "/bkt/k");
    assertArrayEquals(both(), got.body());
    assertEquals(etag, got.header("ETag"));
    assertEquals("1", got.header("x-amz-meta-m"));
    assertEquals("t/t", got.header("Content-Type"));
    s3.refused("NoSuchUpload", "GET", "/bkt/k?uploadId=" + upload);
    // The answer may have been lost: asking again with the same parts is answered again.
    TestAnswer again = s3.ok(200, complete(upload, named(1, etag1) + named(7, etag7)));
    assertEquals(etag, again.element("ETag"));
    s3.refused("NoSuchUpload", complete(upload, named(1, etag1)));
  }

  @Test
  void concurrentCompletionsGetTheSameAnswer() throws Exception {
    for (int round = 0; round < 20; round++) {
      String upload = begin();
      String parts = named(1, putPart(upload, 1, LAST));
      List<Callable<TestAnswer>> requests =
          Collections.nCopies(4, () -> s3.ok(200, complete(upload, parts)));
      try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
        for (Future<TestAnswer> answer : clients.invokeAll(requests)) {
          assertEquals(s3.ok(200, "HEAD", "/bkt/k").header("ETag"), answer.get().element("ETag"));
        }
      }
    }
  }

  @Test
  void abortedUploadsAreNotReportedAsCompleted() throws Exception {
    String aborted = begin();
    String parts = named(1, putPart(aborted, 1, LAST));
    String twin = begin();
    putPart(twin, 1, LAST);
    s3.ok(204, "DELETE", "/bkt/k?uploadId=" + aborted);
    s3.ok(200, complete(twin, parts));
    s3.refused("NoSuchUpload", complete(aborted, parts));
    s3.ok(200, complete(twin, parts));
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("abc"));
    s3.refused("NoSuchUpload", complete(twin, parts));
  }

  @Test
  void partsCanBeReadByNumber() throws Exception {
    String upload = begin();
    String parts = named(1, putPart(upload, 1, FIRST)) + named(7, putPart(upload, 7, LAST));
    s3.ok(200, complete(upload, parts));
    TestRequest request =
        TestS3.request("GET", "/bkt/k?partNumber=7").header("x-amz-checksum-mode", "ENABLED");
    TestAnswer got = s3.ok(206, request);
    assertArrayEquals(LAST, got.body());
    assertEquals("2", got.header("x-amz-mp-parts-count"));
    int size = FIRST.length + LAST.length;
    assertEquals(
        "bytes " + FIRST.length + "-" + (size - 1) + "/" + size, got.header("Content-Range"));
    assertEquals(
        TestAuthenticator.base64(ChecksumAlgorithm.CHECKSUM_CRC64NVME, LAST),
        got.header("x-amz-checksum-crc64nvme"));
    TestAnswer head = s3.ok(206, "HEAD", "/bkt/k?partNumber=1");
    assertEquals(Integer.toString(FIRST.length), head.header("Content-Length"));
    s3.refused("InvalidPartNumber", "GET", "/bkt/k?partNumber=2");
    s3.refused("InvalidArgument", "GET", "/bkt/k?partNumber=0");
    s3.refused(
        "InvalidRequest",
        TestS3.request("GET", "/bkt/k?partNumber=1").header("Range", "bytes=0-1"));

    s3.ok(200, TestS3.request("PUT", "/bkt/plain").body("abc"));
    assertEquals("abc", s3.ok(206, "GET", "/bkt/plain?partNumber=1").text());
    s3.refused("InvalidPartNumber", "GET", "/bkt/plain?partNumber=2");

    TestAnswer attributes =
        s3.ok(
            200,
            TestS3.request("GET", "/bkt/k?attributes")
                .header("x-amz-object-attributes", "ObjectParts,ObjectSize")
                .header("x-amz-max-parts", "1"));
    assertEquals(List.of("2"), attributes.each("ObjectParts", "PartsCount"));
    assertEquals(List.of("true"), attributes.each("ObjectParts", "IsTruncated"));
    assertEquals(List.of("1"), attributes.each("ObjectParts", "NextPartNumberMarker"));
    assertEquals(Integer.toString(size), attributes.element("ObjectSize"));
  }

  @Test
  void ofAPartThatIsNamedTwiceTheLastCounts() throws Exception {
    String upload = begin();
    String first = putPart(upload, 1, LAST);
    String again = putPart(upload, 1, FIRST);
    s3.refused("InvalidPart", complete(upload, named(1, again) + named(1, first)));
    s3.ok(200, complete(upload, named(1, first) + named(1, again)));
    assertEquals(
        FIRST.length, Integer.parseInt(s3.ok(200, "HEAD", "/bkt/k").header("Content-Length")));
  }

  @Test
  void badCompletionsAreRefused() throws Exception {
    String upload = begin();
    String small = putPart(upload, 1, LAST);
    String last = putPart(upload, 2, LAST);
    s3.refused("MalformedXML", complete(upload, ""));
    s3.refused("MalformedXML", complete(upload, "<Part><PartNumber>1</PartNumber></Part>"));
    s3.refused("MalformedXML", complete(upload, named(1, small) + "<Part>"));
    s3.refused("InvalidPartOrder", complete(upload, named(2, last) + named(1, small)));
    s3.refused(
        "InvalidPartOrder", complete(upload, named(1, small) + named(2, last) + named(1, small)));
    s3.refused("InvalidPart", complete(upload, named(3, last)));
    s3.refused("InvalidPart", complete(upload, named(1, "\"00000000000000000000000000000000\"")));
    TestAnswer tooSmall = s3.send(complete(upload, named(1, small) + named(2, last)));
    assertEquals("EntityTooSmall", tooSmall.code());
    assertEquals("1", tooSmall.detail("PartNumber"));
    assertEquals("1000", tooSmall.detail("ProposedSize"));
    s3.refused("NoSuchUpload", complete("nope", named(1, small)));
    s3.refused(
        "InvalidRequest", complete(upload, named(1, small)).header("x-amz-mp-object-size", "7"));
    s3.refused(
        "BadDigest",
        complete(upload, named(1, small)).header("x-amz-checksum-crc64nvme", "AAAAAAAAAAA="));
    s3.refused(
        "InvalidRequest",
        complete(upload, named(1, small))
            .header("x-amz-checksum-sha1", "AAAAAAAAAAAAAAAAAAAAAAAAAAA="));
    for (String malformed : List.of("AAAA", "?", "", "AAAAAAAAAAA=-", "AAAAAAAAAAA=-x")) {
      s3.refused(
          "InvalidRequest",
          complete(upload, named(1, small)).header("x-amz-checksum-crc64nvme", malformed));
    }
    String wrong = named(1, small).replace("</ETag>", "</ETag><ChecksumSHA1>AA</ChecksumSHA1>");
    s3.refused("InvalidPart", complete(upload, wrong));
    s3.ok(
        200,
        complete(upload, named(1, small))
            .header("x-amz-mp-object-size", "1000")
            .header(
                "x-amz-checksum-crc64nvme",
                TestAuthenticator.base64(ChecksumAlgorithm.CHECKSUM_CRC64NVME, LAST)));
  }

  @Test
  void compositeChecksumMayComeWithoutTheNumberOfParts() throws Exception {
    TestRequest create =
        TestS3.request("POST", "/bkt/k?uploads").header("x-amz-checksum-algorithm", "CRC32C");
    String upload = s3.ok(200, create).element("UploadId");
    String parts = named(1, putPart(upload, 1, FIRST)) + named(2, putPart(upload, 2, LAST));
    ChecksumAlgorithm algorithm = ChecksumAlgorithm.CHECKSUM_CRC32C;
    String digest =
        TestAuthenticator.base64(
            algorithm,
            TestAuthenticator.digest(algorithm, FIRST)
                .concat(TestAuthenticator.digest(algorithm, LAST))
                .toByteArray());
    for (String wrong : List.of(digest + "-3", "AAAAAA==")) {
      s3.refused("BadDigest", complete(upload, parts).header("x-amz-checksum-crc32c", wrong));
    }
    TestAnswer done = s3.ok(200, complete(upload, parts).header("x-amz-checksum-crc32c", digest));
    assertEquals(digest + "-2", done.element("ChecksumCRC32C"));
  }

  @Test
  void concurrentCompletionsOfOneUploadGetTheSameAnswer() throws Exception {
    for (String method : List.of("parts", "submit")) {
      Runnable[] before = {() -> {}};
      s3 = new TestS3("us-east-1", metadata -> calledFirst(metadata, method, before));
      s3.ok(200, "PUT", "/bkt");
      String upload = begin();
      String parts = named(1, putPart(upload, 1, LAST));
      before[0] =
          () -> {
            before[0] = () -> {};
            assertDoesNotThrow(() -> s3.ok(200, complete(upload, parts)));
          };
      s3.ok(200, complete(upload, parts));
      s3.refused(
          "NoSuchUpload", complete(upload, named(1, "\"00000000000000000000000000000000\"")));
    }
  }

  /** The metadata, before one method of which something else happens. */
  private static MetadataClient calledFirst(
      MetadataClient metadata, String method, Runnable[] before) {
    return intercepted(
        metadata,
        (called, answer) -> {
          if (called.equals(method)) {
            before[0].run();
          }
          return answer.call();
        });
  }

  private interface Interceptor {
    Object answer(String method, Callable<Object> answer) throws Exception;
  }

  private static MetadataClient intercepted(MetadataClient metadata, Interceptor interceptor) {
    return (MetadataClient)
        Proxy.newProxyInstance(
            MetadataClient.class.getClassLoader(),
            new Class<?>[] {MetadataClient.class},
            (proxy, method, arguments) ->
                interceptor.answer(method.getName(), () -> method.invoke(metadata, arguments)));
  }

  @Test
  void objectsHaveAMaximumSize() throws Exception {
    s3 =
        new TestS3(
            "us-east-1",
            metadata ->
                intercepted(
                    metadata,
                    (method, answer) ->
                        method.equals("parts") ? enlarged(answer.call()) : answer.call()));
    s3.ok(200, "PUT", "/bkt");
    String upload = begin();
    String parts = named(1, putPart(upload, 1, FIRST)) + named(2, putPart(upload, 2, LAST));
    TestAnswer tooLarge = s3.send(complete(upload, parts));
    assertEquals("EntityTooLarge", tooLarge.code());
    assertEquals(Long.toString(5L << 40), tooLarge.detail("MaxSizeAllowed"));
  }

  private static List<PartRow> enlarged(Object parts) {
    return ((List<?>) parts)
        .stream()
            .map(part -> ((PartRow) part).toBuilder().setSize((5L << 39) + 1).build())
            .toList();
  }

  @Test
  void completionsCanBeConditional() throws Exception {
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("before"));
    String upload = begin();
    String parts = named(1, putPart(upload, 1, LAST));
    s3.refused("PreconditionFailed", complete(upload, parts).header("If-None-Match", "*"));
    s3.ok(204, "DELETE", "/bkt/k");
    s3.ok(200, complete(upload, parts).header("If-None-Match", "*"));
  }

  @Test
  void theLastUploadOfAPartCounts() throws Exception {
    String upload = begin();
    String stale = putPart(upload, 1, FIRST);
    String fresh = putPart(upload, 1, LAST);
    s3.refused("InvalidPart", complete(upload, named(1, stale)));
    s3.ok(200, complete(upload, named(1, fresh)));
    assertArrayEquals(LAST, s3.ok(200, "GET", "/bkt/k").body());
  }

  @Test
  void badPartsAreRefused() throws Exception {
    String upload = begin();
    s3.refused("InvalidArgument", part(upload, 0, LAST));
    s3.refused("InvalidArgument", part(upload, 10_001, LAST));
    s3.refused("NoSuchUpload", part("nope", 1, LAST));
    s3.refused("InvalidArgument", TestS3.request("PUT", "/bkt/k?partNumber=1").body(LAST));
    s3.refused("MissingContentLength", part(upload, 1, LAST).without("Content-Length"));
    s3.ok(200, part(upload, 10_000, LAST));
  }

  @Test
  void abortedUploadsAreGone() throws Exception {
    String upload = begin();
    String etag = putPart(upload, 1, LAST);
    s3.ok(204, "DELETE", "/bkt/k?uploadId=" + upload);
    s3.refused("NoSuchUpload", "DELETE", "/bkt/k?uploadId=" + upload);
    s3.refused("NoSuchUpload", part(upload, 1, LAST));
    s3.refused("NoSuchUpload", complete(upload, named(1, etag)));
  }

  @ParameterizedTest
  @CsvSource({
    "CRC32, , COMPOSITE",
    "CRC32C, , COMPOSITE",
    "SHA1, , COMPOSITE",
    "SHA256, COMPOSITE, COMPOSITE",
    "SHA512, , COMPOSITE",
    "MD5, , COMPOSITE",
    "XXHASH64, , COMPOSITE",
    "XXHASH3, , COMPOSITE",
    "XXHASH128, COMPOSITE, COMPOSITE",
    "CRC64NVME, , FULL_OBJECT",
    "CRC32, FULL_OBJECT, FULL_OBJECT",
    "CRC32C, FULL_OBJECT, FULL_OBJECT"
  })
  void checksumsOfWholeObjects(String name, @Nullable String wanted, String type) throws Exception {
    TestRequest create =
        TestS3.request("POST", "/bkt/k?uploads").header("x-amz-checksum-algorithm", name);
    if (wanted != null) {
      create.header("x-amz-checksum-type", wanted);
    }
    TestAnswer created = s3.ok(200, create);
    assertEquals(name, created.header("x-amz-checksum-algorithm"));
    assertEquals(type, created.header("x-amz-checksum-type"));
    String upload = created.element("UploadId");
    ChecksumAlgorithm algorithm = ChecksumAlgorithm.valueOf("CHECKSUM_" + name);
    String parts = named(1, putPart(upload, 1, FIRST)) + named(2, putPart(upload, 2, LAST));
    String expected =
        type.equals("FULL_OBJECT")
            ? TestAuthenticator.base64(algorithm, both())
            : TestAuthenticator.base64(
                    algorithm,
                    TestAuthenticator.digest(algorithm, FIRST)
                        .concat(TestAuthenticator.digest(algorithm, LAST))
                        .toByteArray())
                + "-2";
    String otherType = type.equals("COMPOSITE") ? "FULL_OBJECT" : "COMPOSITE";
    s3.refused("BadDigest", complete(upload, parts).header("x-amz-checksum-type", otherType));
    TestAnswer done = s3.ok(200, complete(upload, parts));
    assertEquals(expected, done.element("Checksum" + name));
    assertEquals(type, done.element("ChecksumType"));
    TestRequest head = TestS3.request("HEAD", "/bkt/k").header("x-amz-checksum-mode", "ENABLED");
    assertEquals(expected, s3.ok(200, head).header("x-amz-checksum-" + name));
    TestRequest attributes =
        TestS3.request("GET", "/bkt/k?attributes").header("x-amz-object-attributes", "Checksum");
    assertEquals(
        List.of(expected.replace("-2", "")),
        s3.ok(200, attributes).each("Checksum", "Checksum" + name));
  }

  @Test
  void impossibleChecksumsAreRefused() throws Exception {
    assertCreateRefused("x-amz-checksum-algorithm", "MD4");
    assertCreateRefused("x-amz-checksum-type", "COMPOSITE");
    for (String digest :
        List.of("SHA1", "SHA256", "SHA512", "MD5", "XXHASH64", "XXHASH3", "XXHASH128")) {
      assertCreateRefused("x-amz-checksum-algorithm", digest, "x-amz-checksum-type", "FULL_OBJECT");
    }
    assertCreateRefused(
        "x-amz-checksum-algorithm", "CRC64NVME", "x-amz-checksum-type", "COMPOSITE");
    assertCreateRefused("x-amz-checksum-algorithm", "CRC32", "x-amz-checksum-type", "HALF");
    String upload = begin("x-amz-checksum-algorithm", "CRC32");
    s3.refused(
        "InvalidRequest",
        part(upload, 1, LAST)
            .header(
                "x-amz-checksum-sha1",
                TestAuthenticator.base64(ChecksumAlgorithm.CHECKSUM_SHA1, LAST)));
  }

  private void assertCreateRefused(String... headers) throws Exception {
    TestRequest create = TestS3.request("POST", "/bkt/k?uploads");
    for (int i = 0; i < headers.length; i += 2) {
      create.header(headers[i], headers[i + 1]);
    }
    s3.refused("InvalidRequest", create);
  }

  @Test
  void partsAreCopiedWithoutMovingData() throws Exception {
    s3.ok(200, TestS3.request("PUT", "/bkt/src").body(FIRST));
    int blobs = s3.store.blobCount();
    String upload = begin();
    TestAnswer whole = s3.ok(200, copyPart(upload, 1, null));
    TestAnswer range = s3.ok(200, copyPart(upload, 2, "bytes=10-99"));
    assertFalse(range.element("ETag").equals(whole.element("ETag")));
    assertEquals(blobs, s3.store.blobCount());
    String parts = named(1, whole.element("ETag")) + named(2, range.element("ETag"));
    s3.ok(200, complete(upload, parts));
    byte[] expected = Arrays.copyOf(FIRST, FIRST.length + 90);
    System.arraycopy(FIRST, 10, expected, FIRST.length, 90);
    assertArrayEquals(expected, s3.ok(200, "GET", "/bkt/k").body());
  }

  private static TestRequest copyPart(String upload, int number, @Nullable String range) {
    TestRequest copy =
        TestS3.request("PUT", "/bkt/k?partNumber=" + number + "&uploadId=" + upload)
            .header("x-amz-copy-source", "/bkt/src");
    return range == null ? copy : copy.header("x-amz-copy-source-range", range);
  }

  @Test
  void badPartCopiesAreRefused() throws Exception {
    s3.ok(200, TestS3.request("PUT", "/bkt/src").body(LAST));
    String upload = begin();
    for (String range : List.of("bytes=0-1000", "bytes=5-", "bytes=-5", "0-5", "bytes=5-2")) {
      s3.refused("InvalidArgument", copyPart(upload, 1, range));
    }
    s3.refused("NoSuchUpload", copyPart("nope", 1, null));
    s3.refused(
        "PreconditionFailed",
        copyPart(upload, 1, null).header("x-amz-copy-source-if-match", "other"));
    s3.ok(200, copyPart(upload, 1, "bytes=0-999"));
  }

  @Test
  void partsAreListed() throws Exception {
    String upload = begin("x-amz-checksum-algorithm", "CRC32");
    for (int number : new int[] {5, 1, 3}) {
      putPart(upload, number, LAST);
    }
    TestAnswer all = s3.ok(200, "GET", "/bkt/k?uploadId=" + upload);
    assertEquals(List.of("1", "3", "5"), all.each("Part", "PartNumber"));
    assertEquals("false", all.element("IsTruncated"));
    assertEquals("1000", all.element("MaxParts"));
    assertEquals("CRC32", all.element("ChecksumAlgorithm"));
    assertEquals(
        TestAuthenticator.base64(ChecksumAlgorithm.CHECKSUM_CRC32, LAST),
        all.each("Part", "ChecksumCRC32").getFirst());
    TestAnswer page = s3.ok(200, "GET", "/bkt/k?max-parts=2&uploadId=" + upload);
    assertEquals(List.of("1", "3"), page.each("Part", "PartNumber"));
    assertEquals("true", page.element("IsTruncated"));
    assertEquals("3", page.element("NextPartNumberMarker"));
    TestAnswer rest = s3.ok(200, "GET", "/bkt/k?part-number-marker=3&uploadId=" + upload);
    assertEquals(List.of("5"), rest.each("Part", "PartNumber"));
    s3.refused("InvalidArgument", "GET", "/bkt/k?max-parts=x&uploadId=" + upload);
    s3.refused("NoSuchUpload", "GET", "/bkt/k?uploadId=nope");
  }

  @Test
  void uploadsAreListed() throws Exception {
    for (String key : List.of("a/1", "a/2", "b", "b", "c")) {
      s3.ok(200, "POST", "/bkt/" + key + "?uploads");
    }
    TestAnswer all = s3.ok(200, "GET", "/bkt?uploads");
    assertEquals(List.of("a/1", "a/2", "b", "b", "c"), all.each("Upload", "Key"));
    TestAnswer grouped = s3.ok(200, "GET", "/bkt?uploads&delimiter=/");
    assertEquals(List.of("b", "b", "c"), grouped.each("Upload", "Key"));
    assertEquals(List.of("a/"), grouped.each("CommonPrefixes", "Prefix"));
    assertEquals(
        List.of("a/1", "a/2"), s3.ok(200, "GET", "/bkt?uploads&prefix=a").each("Upload", "Key"));

    TestAnswer page = s3.ok(200, "GET", "/bkt?uploads&max-uploads=3");
    assertEquals("true", page.element("IsTruncated"));
    assertEquals("b", page.element("NextKeyMarker"));
    TestAnswer rest =
        s3.ok(
            200,
            "GET",
            "/bkt?uploads&key-marker=b&upload-id-marker=" + page.element("NextUploadIdMarker"));
    assertEquals(List.of("b", "c"), rest.each("Upload", "Key"));
    assertEquals(
        List.of("c"), s3.ok(200, "GET", "/bkt?uploads&key-marker=b").each("Upload", "Key"));
    TestAnswer first = s3.ok(200, "GET", "/bkt?uploads&delimiter=/&max-uploads=1");
    assertEquals("a/", first.element("NextKeyMarker"));
    TestAnswer second = s3.ok(200, "GET", "/bkt?uploads&delimiter=/&max-uploads=1&key-marker=a/");
    assertEquals(List.of("b"), second.each("Upload", "Key"));
  }
}
