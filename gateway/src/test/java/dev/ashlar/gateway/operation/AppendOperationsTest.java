package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.DataUnavailableException.Reason;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Appends through both doors: x-amz-write-offset-bytes and append&position. */
class AppendOperationsTest {
  private static final String OFFSET = "x-amz-write-offset-bytes";
  private static final String NEXT = "x-rgw-next-append-position";

  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void createBucket() throws Exception {
    s3.ok(200, "PUT", "/bkt");
  }

  private static TestRequest append(String uri, long offset, String body) {
    return TestS3.request("PUT", uri).header(OFFSET, Long.toString(offset)).body(body);
  }

  private static TestRequest rgw(String method, String uri, long position, String body) {
    return TestS3.request(method, uri + "?append&position=" + position).body(body);
  }

  private void put(String uri, String body) throws Exception {
    s3.ok(200, TestS3.request("PUT", uri).body(body));
  }

  private String text(String uri) throws Exception {
    return s3.ok(200, "GET", uri).text();
  }

  private String etag(String uri) throws Exception {
    return s3.ok(200, "HEAD", uri).header("ETag");
  }

  /** An action that cannot throw, for a fake's hook. */
  private Runnable unchecked(TestRequest request) {
    return () -> {
      try {
        assertEquals("", s3.send(request).code());
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    };
  }

  @Test
  void anObjectIsCreatedAtOffsetZeroAndGrows() throws Exception {
    TestAnswer created =
        s3.ok(
            200,
            append("/bkt/log", 0, "one")
                .header("Content-Type", "text/plain")
                .header("x-amz-meta-color", "blue"));
    assertEquals("3", created.header("x-amz-object-size"));
    TestAnswer grown = s3.ok(200, append("/bkt/log", 3, "four").header("Content-Type", "x/y"));
    assertEquals("7", grown.header("x-amz-object-size"));
    assertFalse(grown.headers().contains(NEXT));
    TestAnswer got = s3.ok(200, "GET", "/bkt/log");
    assertEquals("onefour", got.text());
    assertEquals("text/plain", got.header("Content-Type"));
    assertEquals("blue", got.header("x-amz-meta-color"));
    assertEquals(grown.header("ETag"), got.header("ETag"));
    assertNotEquals(created.header("ETag"), grown.header("ETag"));
    assertTrue(grown.header("ETag").matches("\"[0-9a-f]{32}-a\""), grown.header("ETag"));
    TestAnswer listed = s3.ok(200, "GET", "/bkt?list-type=2");
    assertEquals(List.of("7"), listed.each("Contents", "Size"));
    assertEquals(List.of(got.header("ETag")), listed.each("Contents", "ETag"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"PUT", "POST"})
  void rgwAppendsTellTheNextPosition(String method) throws Exception {
    TestAnswer created =
        s3.ok(200, rgw(method, "/bkt/log", 0, "one").header("x-amz-meta-color", "blue"));
    assertEquals("3", created.header(NEXT));
    TestAnswer grown = s3.ok(200, rgw(method, "/bkt/log", 3, "four"));
    assertEquals("7", grown.header(NEXT));
    assertFalse(grown.headers().contains("x-amz-object-size"));
    assertEquals("onefour", text("/bkt/log"));
    assertEquals(etag("/bkt/log"), grown.header("ETag"));

    TestAnswer wrong = s3.send(rgw(method, "/bkt/log", 3, "five"));
    assertEquals("409 PositionNotEqualToLength", wrong.status() + " " + wrong.code());
    assertEquals("7", wrong.header(NEXT));
    TestAnswer absent = s3.send(rgw(method, "/bkt/none", 1, "x"));
    assertEquals("409 PositionNotEqualToLength", absent.status() + " " + absent.code());
    assertEquals("0", absent.header(NEXT));
    assertEquals("onefour", text("/bkt/log"));
  }

  @Test
  void whatWasPutCanBeAppendedToAndPutAgain() throws Exception {
    put("/bkt/k", "put");
    s3.ok(200, append("/bkt/k", 3, "+1"));
    s3.ok(200, rgw("POST", "/bkt/k", 5, "+2"));
    assertEquals("put+1+2", text("/bkt/k"));
    put("/bkt/k", "new");
    assertEquals("new", text("/bkt/k"));
    s3.ok(200, append("/bkt/k", 3, "er"));
    assertEquals("newer", text("/bkt/k"));
    s3.ok(204, "DELETE", "/bkt/k");
    s3.refused("InvalidWriteOffset", append("/bkt/k", 5, "x"));
    s3.ok(200, append("/bkt/k", 0, "x"));
  }

  @Test
  void offsetsThatAreNotTheSizeChangeNothing() throws Exception {
    put("/bkt/k", "12345");
    String etag = etag("/bkt/k");
    int blobs = s3.store.blobCount();
    for (String offset : List.of("0", "4", "6", "5368709120", "99999999999999999999999")) {
      TestAnswer answer = s3.send(TestS3.request("PUT", "/bkt/k").header(OFFSET, offset).body("x"));
      assertEquals("400 InvalidWriteOffset", answer.status() + " " + answer.code(), offset);
    }
    for (String offset : List.of("", "-1", "x", "5.0", "0x5", "5,5")) {
      s3.refused(
          "InvalidArgument", TestS3.request("PUT", "/bkt/k").header(OFFSET, offset).body("x"));
    }
    for (String query : List.of("append", "append&position=", "append&position=-1")) {
      s3.refused("InvalidArgument", TestS3.request("POST", "/bkt/k?" + query).body("x"));
    }
    s3.refused(
        "InvalidRequest",
        TestS3.request("PUT", "/bkt/k?append&position=5").header(OFFSET, "5").body("x"));
    s3.refused("NoSuchBucket", append("/none/k", 0, "x"));
    s3.refused("MissingContentLength", append("/bkt/k", 5, "x").without("Content-Length"));
    TestRequest huge = append("/bkt/k", 5, "x");
    huge.headers().set("Content-Length", Long.toString((5L << 30) + 1));
    s3.refused("EntityTooLarge", huge);
    assertEquals("12345", text("/bkt/k"));
    assertEquals(etag, etag("/bkt/k"));
    assertEquals(blobs, s3.store.blobCount());
  }

  /** The decoded length is that of a payload in aws-chunked, which this one is not. */
  @Test
  void decodedLengthIsNotTheLengthOfAPlainBody() throws Exception {
    put("/bkt/k", "12345");
    String etag = etag("/bkt/k");
    for (TestRequest request :
        List.of(
            append("/bkt/k", 5, "x"),
            rgw("PUT", "/bkt/k", 5, "x"),
            rgw("POST", "/bkt/k", 5, "x"),
            append("/bkt/new", 0, "x"))) {
      request.header("x-amz-content-sha256", "UNSIGNED-PAYLOAD");
      request.header("x-amz-decoded-content-length", "1");
      s3.refused("MissingContentLength", request.inChunks());
    }
    assertEquals("12345", text("/bkt/k"));
    assertEquals(etag, etag("/bkt/k"));
    s3.refused("NoSuchKey", "GET", "/bkt/new");
  }

  @Test
  void emptyAppendsAreRefused() throws Exception {
    put("/bkt/k", "12345");
    String etag = etag("/bkt/k");
    s3.refused("InvalidRequest", append("/bkt/k", 5, ""));
    s3.refused("InvalidRequest", rgw("POST", "/bkt/k", 5, ""));
    s3.refused("InvalidRequest", append("/bkt/new", 0, ""));
    s3.refused("InvalidRequest", rgw("PUT", "/bkt/new", 0, ""));
    s3.refused("NoSuchKey", "GET", "/bkt/new");
    assertEquals(etag, etag("/bkt/k"));
    put("/bkt/empty", "");
    s3.ok(200, append("/bkt/empty", 0, "now"));
    assertEquals("now", text("/bkt/empty"));
  }

  @Test
  void userMetadataBelongsToTheCreator() throws Exception {
    put("/bkt/k", "12345");
    s3.refused("InvalidRequest", append("/bkt/k", 5, "x").header("x-amz-meta-a", "b"));
    s3.refused("InvalidRequest", rgw("POST", "/bkt/k", 5, "x").header("x-amz-meta-a", "b"));
    assertEquals("12345", text("/bkt/k"));
  }

  @Test
  void conditionsHoldForAppends() throws Exception {
    s3.refused("NoSuchKey", append("/bkt/k", 0, "x").header("If-Match", "*"));
    s3.ok(200, append("/bkt/k", 0, "1").header("If-None-Match", "*"));
    s3.refused("PreconditionFailed", append("/bkt/k", 1, "x").header("If-None-Match", "*"));
    s3.refused("PreconditionFailed", append("/bkt/k", 1, "x").header("If-Match", "\"beef\""));
    String etag = etag("/bkt/k");
    s3.ok(200, append("/bkt/k", 1, "2").header("If-Match", etag));
    s3.refused("PreconditionFailed", append("/bkt/k", 2, "x").header("If-Match", etag));
    assertEquals("12", text("/bkt/k"));
  }

  @Test
  void theLaterOfTwoWithTheSameOffsetLoses() throws Exception {
    s3.store.beforeCommit(unchecked(append("/bkt/k", 0, "first")));
    s3.refused("InvalidWriteOffset", append("/bkt/k", 0, "second"));
    assertEquals("first", text("/bkt/k"));

    s3.store.beforeCommit(unchecked(append("/bkt/k", 5, "+1")));
    s3.refused("InvalidWriteOffset", append("/bkt/k", 5, "+2"));
    assertEquals("first+1", text("/bkt/k"));

    s3.store.beforeCommit(unchecked(append("/bkt/k", 7, "!")));
    TestAnswer lost = s3.send(rgw("POST", "/bkt/k", 7, "?"));
    assertEquals("409 PositionNotEqualToLength", lost.status() + " " + lost.code());
    assertEquals("8", lost.header(NEXT));
    assertEquals("first+1!", text("/bkt/k"));
  }

  @Test
  void anObjectReplacedMeanwhileIsAConflict() throws Exception {
    put("/bkt/k", "12345");
    s3.store.beforeCommit(unchecked(TestS3.request("PUT", "/bkt/k").body("54321")));
    TestAnswer same = s3.send(append("/bkt/k", 5, "x"));
    assertEquals("409 ConditionalRequestConflict", same.status() + " " + same.code());
    s3.store.beforeCommit(unchecked(TestS3.request("PUT", "/bkt/k").body("longer")));
    s3.refused("InvalidWriteOffset", append("/bkt/k", 5, "x"));
    String etag = etag("/bkt/k");
    s3.store.beforeCommit(unchecked(TestS3.request("PUT", "/bkt/k").body("123456")));
    s3.refused("PreconditionFailed", append("/bkt/k", 6, "x").header("If-Match", etag));
    s3.store.beforeCommit(unchecked(TestS3.request("DELETE", "/bkt/k")));
    s3.refused("InvalidWriteOffset", append("/bkt/k", 6, "x"));
    s3.refused("NoSuchKey", "GET", "/bkt/k");
  }

  @ParameterizedTest
  @CsvSource({
    "TOO_FEW_DRIVES, 503, ServiceUnavailable",
    "MISPLACED, 503, ServiceUnavailable",
    "FULL, 503, SlowDown",
    "CONFLICT, 409, ConditionalRequestConflict"
  })
  void failedWritesAreReported(Reason reason, int status, String code) throws Exception {
    put("/bkt/k", "12345");
    s3.store.failWrites(reason);
    TestAnswer answer = s3.send(append("/bkt/k", 5, "x"));
    assertEquals(status + " " + code, answer.status() + " " + answer.code());
    assertEquals("12345", text("/bkt/k"));
  }

  @Test
  void onlyAPutTakesAWriteOffset() throws Exception {
    put("/bkt/k", "12345");
    List<TestRequest> others =
        List.of(
            TestS3.request("PUT", "/bkt/copy").header("x-amz-copy-source", "bkt/k"),
            TestS3.request("PUT", "/bkt/k?partNumber=1&uploadId=u").body("x"),
            TestS3.request("POST", "/bkt/k?uploads"),
            TestS3.request("PATCH", "/bkt/k").header("Content-Range", "bytes 0-0/*").body("x"),
            TestS3.request("GET", "/bkt/k"),
            TestS3.request("DELETE", "/bkt/k"),
            TestS3.request("PUT", "/bkt2"));
    for (TestRequest other : others) {
      TestAnswer answer = s3.send(other.header(OFFSET, "5"));
      assertEquals("NotImplemented", answer.code(), other.method());
      assertEquals(OFFSET, answer.detail("Header"));
    }
    s3.refused("MethodNotAllowed", "POST", "/bkt/k");
    assertEquals("12345", text("/bkt/k"));
  }

  @Test
  void copiesAndTheirSourcesGrowApart() throws Exception {
    s3.ok(200, append("/bkt/k", 0, "12"));
    s3.ok(200, append("/bkt/k", 2, "34"));
    String etag = etag("/bkt/k");
    s3.ok(200, TestS3.request("PUT", "/bkt/copy").header("x-amz-copy-source", "bkt/k"));
    assertEquals(etag, etag("/bkt/copy"));
    s3.ok(200, append("/bkt/copy", 4, "56"));
    s3.ok(200, append("/bkt/k", 4, "78"));
    assertEquals("123456", text("/bkt/copy"));
    assertEquals("123478", text("/bkt/k"));
  }

  @Test
  void aChangedObjectMayBecomeAPart() throws Exception {
    s3.ok(200, append("/bkt/k", 0, "12"));
    s3.ok(200, append("/bkt/k", 2, "34"));
    String id = s3.ok(200, "POST", "/bkt/whole?uploads").element("UploadId");
    TestAnswer part =
        s3.ok(
            200,
            TestS3.request("PUT", "/bkt/whole?partNumber=1&uploadId=" + id)
                .header("x-amz-copy-source", "bkt/k"));
    String etag = part.element("ETag");
    assertTrue(etag.matches("\"[0-9a-f]{32}\""), etag);
    s3.ok(200, complete("/bkt/whole", id, etag));
    assertEquals("1234", text("/bkt/whole"));
  }

  private static TestRequest complete(String uri, String id, String... etags) {
    StringBuilder xml = new StringBuilder("<CompleteMultipartUpload>");
    for (int i = 0; i < etags.length; i++) {
      xml.append("<Part><PartNumber>").append(i + 1).append("</PartNumber><ETag>");
      xml.append(etags[i]).append("</ETag></Part>");
    }
    return TestS3.request("POST", uri + "?uploadId=" + id)
        .body(xml.append("</CompleteMultipartUpload>").toString());
  }

  @Test
  void anAppendedMultipartObjectHasNoPartsAnyMore() throws Exception {
    byte[] first = TestS3.randomBytes(TestS3.PART, 1);
    String id = s3.ok(200, "POST", "/bkt/k?uploads").element("UploadId");
    String part = "/bkt/k?uploadId=" + id + "&partNumber=";
    String one = s3.ok(200, TestS3.request("PUT", part + 1).body(first)).header("ETag");
    String two = s3.ok(200, TestS3.request("PUT", part + 2).body("tail")).header("ETag");
    TestRequest completion = complete("/bkt/k", id, one, two);
    s3.ok(200, completion);
    assertEquals("2", s3.ok(206, "GET", "/bkt/k?partNumber=1").header("x-amz-mp-parts-count"));
    s3.ok(200, append("/bkt/k", TestS3.PART + 4, "+"));

    TestAnswer whole = s3.ok(206, "GET", "/bkt/k?partNumber=1");
    assertEquals(TestS3.PART + 5, whole.body().length);
    assertFalse(whole.headers().contains("x-amz-mp-parts-count"));
    s3.refused("InvalidPartNumber", "GET", "/bkt/k?partNumber=2");
    TestAnswer attributes =
        s3.ok(
            200,
            TestS3.request("GET", "/bkt/k?attributes")
                .header("x-amz-object-attributes", "ObjectParts,ObjectSize,ETag,Checksum"));
    assertEquals("(absent)", attributes.element("ObjectParts"));
    assertEquals(Integer.toString(TestS3.PART + 5), attributes.element("ObjectSize"));
    byte[] expected = java.util.Arrays.copyOf(first, TestS3.PART + 5);
    System.arraycopy(
        "tail+".getBytes(java.nio.charset.StandardCharsets.UTF_8), 0, expected, TestS3.PART, 5);
    assertArrayEquals(expected, s3.ok(200, "GET", "/bkt/k").body());
    s3.refused("NoSuchUpload", complete("/bkt/k", id, one, two)); // of what it was
  }
}
