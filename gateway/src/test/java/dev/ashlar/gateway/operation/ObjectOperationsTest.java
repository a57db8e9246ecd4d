package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ObjectOperationsTest {
  private static final String PAST = "Wed, 01 Jan 2020 00:00:00 GMT";
  private static final String FUTURE = "Fri, 01 Jan 2100 00:00:00 GMT";

  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void createBucket() throws Exception {
    s3.ok(200, "PUT", "/bkt");
  }

  private static TestRequest put(String uri, byte[] body) {
    return TestS3.request("PUT", uri).body(body);
  }

  private static TestRequest put(String uri, String body) {
    return TestS3.request("PUT", uri).body(body);
  }

  private static String md5(byte[] bytes) throws Exception {
    return HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(bytes));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 5000, 16384, 65536, 65537, 300_000, 2_000_000})
  void storedObjectsAreReturned(int size) throws Exception {
    byte[] body = TestS3.randomBytes(size, size);
    TestAnswer stored = s3.ok(200, put("/bkt/k", body));
    assertEquals('"' + md5(body) + '"', stored.header("ETag"));
    assertEquals(
        TestAuthenticator.base64(ChecksumAlgorithm.CHECKSUM_CRC64NVME, body),
        stored.header("x-amz-checksum-crc64nvme"));
    assertEquals("FULL_OBJECT", stored.header("x-amz-checksum-type"));

    TestAnswer got = s3.ok(200, "GET", "/bkt/k");
    assertArrayEquals(body, got.body());
    assertEquals(stored.header("ETag"), got.header("ETag"));
    assertEquals("binary/octet-stream", got.header("Content-Type"));
    assertEquals("bytes", got.header("Accept-Ranges"));
    assertFalse(got.headers().contains("x-amz-checksum-crc64nvme"));

    TestAnswer head = s3.ok(200, "HEAD", "/bkt/k");
    assertEquals(Integer.toString(size), head.header("Content-Length"));
    assertEquals(got.header("Last-Modified"), head.header("Last-Modified"));
    assertEquals(0, head.body().length);
  }

  @Test
  void headersAndMetadataComeBack() throws Exception {
    s3.ok(
        200,
        put("/bkt/k", "x")
            .header("Content-Type", "text/plain")
            .header("Cache-Control", "no-cache")
            .header("Content-Encoding", "aws-chunked,gzip")
            .header("Content-Disposition", "attachment")
            .header("Content-Language", "de")
            .header("Expires", "0")
            .header("x-amz-meta-Color", "blue")
            .header("x-amz-meta-twice", "a")
            .header("x-amz-meta-twice", "b")
            .header("x-amz-meta-latin", "caf\u00c3\u00a9"));
    TestAnswer got = s3.ok(200, "GET", "/bkt/k");
    assertEquals("text/plain", got.header("Content-Type"));
    assertEquals("no-cache", got.header("Cache-Control"));
    assertEquals("gzip", got.header("Content-Encoding"));
    assertEquals("attachment", got.header("Content-Disposition"));
    assertEquals("de", got.header("Content-Language"));
    assertEquals("0", got.header("Expires"));
    assertEquals("blue", got.header("x-amz-meta-color"));
    assertEquals("a,b", got.header("x-amz-meta-twice"));
    assertEquals("caf\u00c3\u00a9", got.header("x-amz-meta-latin"));
  }

  @Test
  void transferEncodingIsNotStored() throws Exception {
    s3.ok(200, put("/bkt/k", "x").header("Content-Encoding", "aws-chunked"));
    assertFalse(s3.ok(200, "GET", "/bkt/k").headers().contains("Content-Encoding"));
  }

  @Test
  void bodyInChunksNeedsNoLength() throws Exception {
    s3.ok(200, put("/bkt/k", "xyz").inChunks());
    assertEquals("xyz", s3.ok(200, "GET", "/bkt/k").text());
    s3.refused(
        "BadDigest", put("/bkt/k", "x").inChunks().header("x-amz-checksum-crc32", "AAAAAA=="));
    s3.refused("AccessDenied", put("/bkt/k", "x").inChunks().header("x-test-owner", "anonymous"));
    assertEquals("xyz", s3.ok(200, "GET", "/bkt/k").text());
  }

  @Test
  void badPutsAreRefused() throws Exception {
    s3.refused("NoSuchBucket", put("/none/k", "x"));
    s3.refused("MissingContentLength", put("/bkt/k", "x").without("Content-Length"));
    s3.refused("InvalidStorageClass", put("/bkt/k", "x").header("x-amz-storage-class", "GLACIER"));
    s3.ok(200, put("/bkt/k", "x").header("x-amz-storage-class", "STANDARD"));
    s3.refused("MetadataTooLarge", put("/bkt/k", "x").header("x-amz-meta-a", "v".repeat(2048)));
    s3.ok(200, put("/bkt/k", "x").header("x-amz-meta-a", "v".repeat(2047)));
    s3.refused("BadDigest", put("/bkt/k", "x").header("x-amz-checksum-crc32", "AAAAAA=="));
    TestRequest huge = put("/bkt/k", "x");
    huge.headers().set("Content-Length", Long.toString((5L << 30) + 1));
    s3.refused("EntityTooLarge", huge);
  }

  @Test
  void headersThatChangeNothingAreAccepted() throws Exception {
    for (String acl : List.of("private", "bucket-owner-full-control")) {
      s3.ok(200, put("/bkt/k", "x").header("x-amz-acl", acl));
      s3.ok(200, TestS3.request("PUT", "/bkt/k?acl").header("x-amz-acl", acl));
      s3.ok(200, TestS3.request("PUT", "/bkt?acl").header("x-amz-acl", acl));
    }
    s3.refused("NoSuchKey", TestS3.request("PUT", "/bkt/no?acl").header("x-amz-acl", "private"));
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt/copy")
            .header("x-amz-copy-source", "bkt/k")
            .header("x-amz-tagging-directive", "REPLACE"));
  }

  @ParameterizedTest
  @CsvSource({"x-amz-checksum-sha384, AAAAAAAAAAA="})
  void headersOfMissingFeaturesAreRefused(String header, String value) throws Exception {
    TestAnswer answer = s3.send(put("/bkt/k", "x").header(header, value));
    assertEquals("NotImplemented", answer.code());
    assertEquals(501, answer.status());
    assertEquals(header, answer.detail("Header"));
    s3.refused("NoSuchKey", "GET", "/bkt/k");
  }

  @Test
  void clientChecksumsAreKeptAndToldOnDemand() throws Exception {
    byte[] body = TestS3.randomBytes(1000, 1);
    String sha = TestAuthenticator.base64(ChecksumAlgorithm.CHECKSUM_SHA256, body);
    TestAnswer stored = s3.ok(200, put("/bkt/k", body).header("x-amz-checksum-sha256", sha));
    assertEquals(sha, stored.header("x-amz-checksum-sha256"));
    TestRequest get = TestS3.request("GET", "/bkt/k").header("x-amz-checksum-mode", "ENABLED");
    TestAnswer got = s3.ok(200, get);
    assertEquals(sha, got.header("x-amz-checksum-sha256"));
    assertEquals("FULL_OBJECT", got.header("x-amz-checksum-type"));
    // A client would compare the checksum of the whole with a part of it.
    TestRequest range =
        TestS3.request("GET", "/bkt/k")
            .header("x-amz-checksum-mode", "ENABLED")
            .header("Range", "bytes=0-9");
    assertFalse(s3.ok(206, range).headers().contains("x-amz-checksum-sha256"));
  }

  @ParameterizedTest
  @CsvSource({
    "bytes=0-0, 0, 1",
    "bytes=0-9, 0, 10",
    "bytes=90-, 90, 10",
    "bytes=90-1000, 90, 10",
    "bytes=99-99, 99, 1",
    "bytes=-1, 99, 1",
    "bytes=-1000, 0, 100",
    "BYTES=5-6, 5, 2",
    "bytes= 5 - 6, 5, 2",
    "bytes=1-99999999999999999999, 1, 99"
  })
  void ranges(String range, int offset, int length) throws Exception {
    byte[] body = TestS3.randomBytes(100, 2);
    s3.ok(200, put("/bkt/k", body));
    TestAnswer got = s3.ok(206, TestS3.request("GET", "/bkt/k").header("Range", range));
    assertArrayEquals(Arrays.copyOfRange(body, offset, offset + length), got.body());
    String contentRange = "bytes " + offset + "-" + (offset + length - 1) + "/100";
    assertEquals(contentRange, got.header("Content-Range"));
    TestAnswer head = s3.ok(206, TestS3.request("HEAD", "/bkt/k").header("Range", range));
    assertEquals(Integer.toString(length), head.header("Content-Length"));
    assertEquals(contentRange, head.header("Content-Range"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"bytes=5-2", "bytes=a-b", "bytes=-", "bytes=0-1,3-4", "lines=0-1", "bytes=--1"})
  void invalidRangesAreIgnored(String range) throws Exception {
    s3.ok(200, put("/bkt/k", new byte[100]));
    TestAnswer got = s3.ok(200, TestS3.request("GET", "/bkt/k").header("Range", range));
    assertEquals(100, got.body().length);
  }

  @ParameterizedTest
  @CsvSource({"100, bytes=100-", "100, bytes=-0", "0, bytes=0-", "0, bytes=-5"})
  void unsatisfiableRanges(int size, String range) throws Exception {
    s3.ok(200, put("/bkt/k", new byte[size]));
    TestAnswer answer = s3.send(TestS3.request("GET", "/bkt/k").header("Range", range));
    assertEquals(416, answer.status());
    assertEquals("InvalidRange", answer.code());
    assertEquals(range, answer.detail("RangeRequested"));
    assertEquals(Integer.toString(size), answer.detail("ActualObjectSize"));
  }

  /** Status by the four conditions: e is the right ETag, x a wrong one, p past, f future. */
  @ParameterizedTest
  @CsvSource({
    "e, , , , 200",
    "x, , , , 412",
    "*, , , , 200",
    ", e, , , 304",
    ", x, , , 200",
    ", *, , , 304",
    ", , p, , 200",
    ", , f, , 304",
    ", , , p, 412",
    ", , , f, 200",
    "e, , , p, 200",
    "x, , , f, 412",
    ", x, f, , 200",
    ", e, p, , 304",
    "e, e, , , 304",
    "x, e, , , 412",
    ", , p, f, 200",
    ", , f, p, 412"
  })
  void conditions(
      @Nullable String match,
      @Nullable String noneMatch,
      @Nullable String modified,
      @Nullable String unmodified,
      int status)
      throws Exception {
    String etag = s3.ok(200, put("/bkt/k", "data")).header("ETag");
    for (String method : new String[] {"GET", "HEAD"}) {
      TestRequest get = TestS3.request(method, "/bkt/k");
      etagCondition(get, "If-Match", match, etag);
      etagCondition(get, "If-None-Match", noneMatch, etag);
      dateCondition(get, "If-Modified-Since", modified);
      dateCondition(get, "If-Unmodified-Since", unmodified);
      TestAnswer answer = s3.ok(status, get);
      if (status == 304) {
        assertEquals(etag, answer.header("ETag"));
        assertEquals(0, answer.body().length);
      }
    }
  }

  private static void etagCondition(
      TestRequest request, String header, @Nullable String what, String etag) {
    if (what != null) {
      request.header(header, what.equals("e") ? etag : what.equals("x") ? "\"other\"" : what);
    }
  }

  private static void dateCondition(TestRequest request, String header, @Nullable String what) {
    if (what != null) {
      request.header(header, what.equals("p") ? PAST : FUTURE);
    }
  }

  @Test
  void conditionalWrites() throws Exception {
    TestRequest first = put("/bkt/k", "1").header("If-None-Match", "*");
    String etag = s3.ok(200, first).header("ETag");
    s3.refused("PreconditionFailed", put("/bkt/k", "2").header("If-None-Match", "*"));
    s3.refused("PreconditionFailed", put("/bkt/k", "2").header("If-Match", "\"other\""));
    s3.refused("PreconditionFailed", put("/bkt/k", "2").header("If-Match", ""));
    s3.refused("NoSuchKey", put("/bkt/none", "2").header("If-Match", etag));
    s3.refused("PreconditionFailed", put("/bkt/k", "2").header("If-None-Match", etag));
    s3.ok(200, put("/bkt/k", "1").header("If-None-Match", "\"other\""));
    s3.refused(
        "NotImplemented", put("/bkt/k", "2").header("If-None-Match", "x").header("If-Match", "*"));
    s3.ok(200, put("/bkt/k", "2").header("If-Match", etag));
    assertEquals("2", s3.ok(200, "GET", "/bkt/k").text());
    s3.refused(
        "PreconditionFailed", TestS3.request("DELETE", "/bkt/k").header("If-Match", "\"other\""));
    s3.ok(204, TestS3.request("DELETE", "/bkt/k").header("If-Match", "*"));
  }

  @Test
  void overridesReplaceHeaders() throws Exception {
    s3.ok(200, put("/bkt/k", "x").header("Content-Type", "text/plain"));
    TestAnswer got =
        s3.ok(
            200,
            "GET",
            "/bkt/k?response-content-type=a%2Fb&response-cache-control=no-store"
                + "&response-content-disposition=attachment%3B%20filename%3D%22caf%C3%A9%22"
                + "&response-expires=1&response-content-language=fr"
                + "&response-content-encoding=br");
    assertEquals("a/b", got.header("Content-Type"));
    assertEquals("no-store", got.header("Cache-Control"));
    assertEquals("attachment; filename=\"caf\u00c3\u00a9\"", got.header("Content-Disposition"));
    assertEquals("1", got.header("Expires"));
    assertEquals("fr", got.header("Content-Language"));
    assertEquals("br", got.header("Content-Encoding"));
    s3.refused("InvalidArgument", "GET", "/bkt/k?response-content-type=a%0D%0ASet-Cookie:x");
  }

  @Test
  void deletesAreIdempotent() throws Exception {
    s3.ok(200, put("/bkt/k", "x"));
    s3.ok(204, "DELETE", "/bkt/k");
    s3.ok(204, "DELETE", "/bkt/k");
    s3.refused("NoSuchKey", "GET", "/bkt/k");
    s3.refused("NoSuchKey", "HEAD", "/bkt/k");
    s3.refused("NoSuchBucket", "DELETE", "/none/k");
    s3.refused("NoSuchBucket", "GET", "/none/k");
  }

  @Test
  void versionsOtherThanNullAreUnknown() throws Exception {
    s3.ok(200, put("/bkt/k", "x"));
    s3.ok(200, "GET", "/bkt/k?versionId=null");
    s3.refused("InvalidArgument", "GET", "/bkt/k?versionId=abc");
    s3.refused("InvalidArgument", "DELETE", "/bkt/k?versionId=abc");
    s3.ok(204, "DELETE", "/bkt/k?versionId=null");
  }

  @Test
  void otherAccountsAreRefused() throws Exception {
    s3.ok(200, put("/bkt/k", "x"));
    for (String method : new String[] {"GET", "HEAD", "DELETE"}) {
      s3.refused("AccessDenied", TestS3.request(method, "/bkt/k").header("x-test-owner", "other"));
      s3.refused("AccessDenied", TestS3.request(method, "/bkt").header("x-test-owner", "other"));
    }
    s3.refused("AccessDenied", put("/bkt/k", "y").header("x-test-owner", "other"));
    s3.refused(
        "AccessDenied", TestS3.request("GET", "/bkt/k").header("x-amz-expected-bucket-owner", "x"));
    s3.ok(200, TestS3.request("GET", "/bkt/k").header("x-amz-expected-bucket-owner", "owner"));
    s3.refused(
        "SignatureDoesNotMatch", TestS3.request("GET", "/%zz").header("x-test-owner", "nobody"));
  }

  @Test
  void faultsOfWritesBecomeErrors() throws Exception {
    s3.store.failWrites(Reason.TOO_FEW_DRIVES);
    s3.refused("ServiceUnavailable", put("/bkt/k", "x"));
    s3.store.failWrites(Reason.FULL);
    s3.refused("SlowDown", put("/bkt/k", "x"));
    s3.store.failWrites(Reason.OVERLOADED);
    s3.refused("SlowDown", put("/bkt/k", "x"));
    s3.refused("NoSuchKey", "GET", "/bkt/k");
    s3.metadata.setUnavailable(true);
    s3.refused("ServiceUnavailable", "GET", "/bkt/k");
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 1_000_000})
  void faultsBeforeTheFirstByteBecomeErrors(int size) throws Exception {
    s3.ok(200, put("/bkt/k", new byte[size]));
    s3.store.failReads(Reason.TOO_FEW_DRIVES, 0, 1);
    s3.refused("ServiceUnavailable", "GET", "/bkt/k");
    s3.store.failReads(Reason.OVERLOADED, 0, 1);
    s3.refused("SlowDown", "GET", "/bkt/k");
    s3.ok(200, "GET", "/bkt/k");
  }

  @ParameterizedTest
  @ValueSource(ints = {60_000, 1_000_000})
  void objectsThatVanishAreOpenedAgain(int size) throws Exception {
    s3.ok(200, put("/bkt/k", TestS3.randomBytes(size, 1)));
    s3.store.failReads(Reason.GONE, 1, 2);
    assertArrayEquals(TestS3.randomBytes(size, 1), s3.ok(200, "GET", "/bkt/k").body());
    s3.store.failReads(Reason.GONE, 1, 3);
    s3.refused("ServiceUnavailable", "GET", "/bkt/k");
  }

  @ParameterizedTest
  @CsvSource({"60000, 20000", "1000000, 0", "1000000, 500000"})
  void clientsThatLeaveLeaveNothingBehind(int size, int bytesMax) throws Exception {
    s3.ok(200, put("/bkt/k", new byte[size]));
    assertThrows(
        IOException.class, () -> s3.sendToLeavingClient(TestS3.request("GET", "/bkt/k"), bytesMax));
  }

  @Test
  void attributes() throws Exception {
    byte[] body = "hello".getBytes(StandardCharsets.UTF_8);
    s3.ok(200, put("/bkt/k", body));
    TestAnswer answer =
        s3.ok(
            200,
            TestS3.request("GET", "/bkt/k?attributes")
                .header("x-amz-object-attributes", "ETag,Checksum, ObjectSize")
                .header("x-amz-object-attributes", "StorageClass,ObjectParts"));
    assertEquals(md5(body), answer.element("ETag"));
    assertEquals("5", answer.element("ObjectSize"));
    assertEquals("STANDARD", answer.element("StorageClass"));
    assertEquals("(absent)", answer.element("ObjectParts"));
    assertEquals(
        TestAuthenticator.base64(ChecksumAlgorithm.CHECKSUM_CRC64NVME, body),
        answer.each("Checksum", "ChecksumCRC64NVME").getFirst());
    s3.refused("InvalidRequest", "GET", "/bkt/k?attributes");
    s3.refused(
        "InvalidArgument",
        TestS3.request("GET", "/bkt/k?attributes").header("x-amz-object-attributes", "Colour"));
  }

  @Test
  void requestsAreCounted() throws Exception {
    s3.ok(200, put("/bkt/k", "x"));
    s3.refused("NoSuchKey", "GET", "/bkt/none");
    assertEquals(1, count("PutObject", "200"));
    assertEquals(1, count("GetObject", "404"));
    s3.refused("InvalidURI", "GET", "/bkt/%zz");
    assertEquals(1, count("Invalid", "400"));
  }

  private double count(String operation, String status) {
    return s3.registry
        .get("ashlar.s3.requests")
        .tag("operation", operation)
        .tag("status", status)
        .counter()
        .count();
  }
}
