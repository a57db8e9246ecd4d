package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.gateway.xml.XmlReader;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PatchOperationsTest {
  private static final String PAST = "Wed, 01 Jan 2020 00:00:00 GMT";
  private static final String FUTURE = "Fri, 01 Jan 2100 00:00:00 GMT";

  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void createBucket() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt/k")
            .header("Content-Type", "text/plain")
            .header("x-amz-meta-color", "blue")
            .body("0123456789"));
  }

  private static TestRequest patch(String range, String body) {
    return TestS3.request("PATCH", "/bkt/k").header("Content-Range", range).body(body);
  }

  private String text() throws Exception {
    return s3.ok(200, "GET", "/bkt/k").text();
  }

  private Runnable unchecked(TestRequest request) {
    return () -> {
      try {
        assertEquals("", s3.send(request).code());
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    };
  }

  @ParameterizedTest
  @CsvSource({
    "bytes 0-0/*, a, a123456789",
    "bytes 3-5/*, abc, 012abc6789",
    "bytes 9-9/*, a, 012345678a",
    "bytes 8-11/*, abcd, 01234567abcd",
    "bytes 10-11/*, ab, 0123456789ab",
    "bytes 0-11/*, abcdefghijkl, abcdefghijkl",
    "bytes 3-5/10, abc, 012abc6789",
    "bytes 3-/*, abc, 012abc6789",
    "bytes 10-/*, abc, 0123456789abc",
    "BYTES 3-5/99999, abc, 012abc6789"
  })
  void bytesAreReplacedAndWhatRunsPastTheEndIsAppended(String range, String body, String whole)
      throws Exception {
    s3.ok(200, patch(range, body));
    assertEquals(whole, text());
    TestAnswer head = s3.ok(200, "HEAD", "/bkt/k");
    assertEquals(Integer.toString(whole.length()), head.header("Content-Length"));
    assertEquals("text/plain", head.header("Content-Type"));
    assertEquals("blue", head.header("x-amz-meta-color"));
  }

  @Test
  void theAnswerNamesTheObjectAsItIsNow() throws Exception {
    String before = s3.ok(200, "HEAD", "/bkt/k").header("ETag");
    TestAnswer answer = s3.ok(200, patch("bytes 3-5/*", "abc"));
    assertEquals("application/xml", answer.header("Content-Type"));
    assertTrue(answer.text().contains("<PatchObjectResult><Object><LastModified>"), answer.text());
    XmlReader.Element object = Objects.requireNonNull(answer.xml().child("Object"));
    String etag = object.required("ETag");
    assertNotEquals(before, etag);
    assertEquals(etag, s3.ok(200, "HEAD", "/bkt/k").header("ETag"));
    assertTrue(
        object
            .required("LastModified")
            .matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.000Z"));
    s3.ok(200, patch("bytes 3-5/*", "def").header("If-Match", etag));
    s3.refused("PreconditionFailed", patch("bytes 3-5/*", "ghi").header("If-Match", etag));
    assertEquals("012def6789", text());
  }

  @ParameterizedTest
  @CsvSource({
    "416 InvalidRange, bytes 11-12/*, ab",
    "416 InvalidRange, bytes 99999999999999999999-99999999999999999999/*, a",
    "416 InvalidRange, bytes 5-4/*, a",
    "416 InvalidRange, bytes -5/*, abcde",
    "416 InvalidRange, bytes */10, a",
    "416 InvalidRange, bytes=3-5/*, abc",
    "416 InvalidRange, items 3-5/*, abc",
    "416 InvalidRange, bytes 3-5, abc",
    "416 InvalidRange, bytes 3-5/, abc",
    "416 InvalidRange, bytes 3-5/x, abc",
    "416 InvalidRange, bytes 3-x/*, abc",
    "416 InvalidRange, 'bytes 0-1,3-4/*', abcd",
    "416 InvalidRange, '', a",
    "400 InvalidArgument, bytes 3-5/*, ab",
    "400 InvalidArgument, bytes 3-5/*, abcd",
    "400 InvalidArgument, bytes 0-9223372036854775807/*, a",
    "400 InvalidArgument, bytes 3-5/*, ''",
    "400 InvalidRequest, bytes 3-/*, ''"
  })
  void rangesThatDoNotFitChangeNothing(String expected, String range, String body)
      throws Exception {
    String etag = s3.ok(200, "HEAD", "/bkt/k").header("ETag");
    TestAnswer answer = s3.send(patch(range, body));
    assertEquals(expected, answer.status() + " " + answer.code());
    assertEquals("0123456789", text());
    assertEquals(etag, s3.ok(200, "HEAD", "/bkt/k").header("ETag"));
  }

  @Test
  void badPatchesAreRefused() throws Exception {
    TestAnswer rangeless = s3.send(TestS3.request("PATCH", "/bkt/k").body("x"));
    assertEquals("400 MissingContentRange", rangeless.status() + " " + rangeless.code());
    TestAnswer endless = s3.send(patch("bytes 0-0/*", "x").without("Content-Length"));
    assertEquals("411 MissingContentLength", endless.status() + " " + endless.code());
    for (String range : List.of("bytes 0-0/*", "bytes 0-/*", "bytes 10-/*")) {
      TestRequest decoded = patch(range, "x").header("x-amz-decoded-content-length", "1");
      decoded.header("x-amz-content-sha256", "UNSIGNED-PAYLOAD");
      s3.refused("MissingContentLength", decoded.inChunks());
    }
    TestRequest huge = patch("bytes 0-/*", "x");
    huge.headers().set("Content-Length", Long.toString((5L << 30) + 1));
    s3.refused("EntityTooLarge", huge);
    s3.refused("InvalidRequest", patch("bytes 0-0/*", "x").header("x-amz-meta-a", "b"));
    s3.refused(
        "NoSuchKey",
        TestS3.request("PATCH", "/bkt/none").header("Content-Range", "bytes 0-0/*").body("x"));
    s3.refused(
        "NoSuchBucket",
        TestS3.request("PATCH", "/none/k").header("Content-Range", "bytes 0-0/*").body("x"));
    s3.refused("AccessDenied", patch("bytes 0-0/*", "x").header("x-test-owner", "other"));
    s3.refused("MethodNotAllowed", "PATCH", "/bkt");
    s3.refused("MethodNotAllowed", "PATCH", "/bkt/k?tagging");
    assertEquals("0123456789", text());
  }

  @Test
  void conditionsMustHold() throws Exception {
    s3.refused("PreconditionFailed", patch("bytes 0-0/*", "x").header("If-Match", "\"beef\""));
    s3.refused("PreconditionFailed", patch("bytes 0-0/*", "x").header("If-Unmodified-Since", PAST));
    String etag = s3.ok(200, "HEAD", "/bkt/k").header("ETag");
    s3.refused(
        "PreconditionFailed",
        patch("bytes 0-0/*", "x").header("If-Match", etag).header("If-Unmodified-Since", PAST));
    s3.ok(
        200,
        patch("bytes 0-0/*", "a").header("If-Match", etag).header("If-Unmodified-Since", FUTURE));
    assertEquals("a123456789", text());
  }

  @Test
  void conditionsMustStillHoldWhenItCounts() throws Exception {
    String etag = s3.ok(200, "HEAD", "/bkt/k").header("ETag");
    s3.store.beforeCommit(unchecked(patch("bytes 9-9/*", "z")));
    s3.refused("PreconditionFailed", patch("bytes 0-0/*", "x").header("If-Match", etag));
    s3.store.beforeCommit(unchecked(patch("bytes 9-9/*", "y")));
    s3.refused(
        "PreconditionFailed", patch("bytes 0-0/*", "x").header("If-Unmodified-Since", FUTURE));
    assertEquals("012345678y", text());
  }

  @Test
  void losersOfARaceGetAConflict() throws Exception {
    s3.store.beforeCommit(unchecked(patch("bytes 0-0/*", "a")));
    TestAnswer lost = s3.send(patch("bytes 0-0/*", "b"));
    assertEquals("409 ConcurrentUpdatesPatchConflict", lost.status() + " " + lost.code());
    s3.store.beforeCommit(unchecked(TestS3.request("PUT", "/bkt/k").body("short")));
    s3.refused("InvalidRange", patch("bytes 9-9/*", "b"));
    s3.store.beforeCommit(unchecked(TestS3.request("DELETE", "/bkt/k")));
    s3.refused("NoSuchKey", patch("bytes 0-0/*", "b"));
  }

  @ParameterizedTest
  @CsvSource({
    "TOO_FEW_DRIVES, 503, ServiceUnavailable",
    "MISPLACED, 503, ServiceUnavailable",
    "OVERLOADED, 503, SlowDown",
    "CONFLICT, 409, ConcurrentUpdatesPatchConflict"
  })
  void failedWritesAreReported(Reason reason, int status, String code) throws Exception {
    s3.store.failWrites(reason);
    TestAnswer answer = s3.send(patch("bytes 3-5/*", "abc"));
    assertEquals(status + " " + code, answer.status() + " " + answer.code());
    assertEquals("0123456789", text());
  }

  @Test
  void aSequenceOfPatchesIsAsOnAnArray() throws Exception {
    long seed = Long.getLong("ashlar.seed", ThreadLocalRandom.current().nextLong(1L << 48));
    System.out.println("PatchOperationsTest: replay with -Dashlar.seed=" + seed);
    SplittableRandom random = new SplittableRandom(seed);
    byte[] model = TestS3.randomBytes(100_000, seed);
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body(model));
    for (int i = 0; i < 60; i++) {
      int offset = random.nextInt(model.length + 1);
      byte[] body = new byte[1 + random.nextInt(40_000)];
      random.nextBytes(body);
      model = Arrays.copyOf(model, Math.max(model.length, offset + body.length));
      System.arraycopy(body, 0, model, offset, body.length);
      String range = "bytes " + offset + "-" + (offset + body.length - 1) + "/*";
      s3.ok(200, TestS3.request("PATCH", "/bkt/k").header("Content-Range", range).body(body));
    }
    assertArrayEquals(model, s3.ok(200, "GET", "/bkt/k").body());
  }
}
