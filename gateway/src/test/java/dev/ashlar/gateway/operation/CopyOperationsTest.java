package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CopyOperationsTest {
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

  @Test
  void copies() throws Exception {
    byte[] body = TestS3.randomBytes(100_000, 3);
    String etag =
        s3.ok(
                200,
                put("/bkt/a%20b", body).header("x-amz-meta-m", "1").header("Content-Type", "t/t"))
            .header("ETag");
    int blobs = s3.store.blobCount();
    TestRequest copy = TestS3.request("PUT", "/bkt/c").header("x-amz-copy-source", "/bkt/a%20b");
    TestAnswer copied = s3.ok(200, copy);
    assertEquals(etag, copied.element("ETag"));
    assertTrue(copied.element("LastModified").endsWith(".000Z"));
    assertEquals("FULL_OBJECT", copied.element("ChecksumType"));
    assertEquals(blobs, s3.store.blobCount(), "a copy moves no data");
    TestAnswer got = s3.ok(200, "GET", "/bkt/c");
    assertArrayEquals(body, got.body());
    assertEquals("1", got.header("x-amz-meta-m"));
    assertEquals("t/t", got.header("Content-Type"));
    s3.ok(204, "DELETE", "/bkt/a%20b");
    assertArrayEquals(body, s3.ok(200, "GET", "/bkt/c").body());
  }

  @Test
  void copiesReplaceMetadataOnDemand() throws Exception {
    s3.ok(200, put("/bkt/k", "x").header("x-amz-meta-m", "1"));
    s3.refused(
        "InvalidRequest", TestS3.request("PUT", "/bkt/k").header("x-amz-copy-source", "bkt/k"));
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt/k")
            .header("x-amz-copy-source", "bkt/k?versionId=null")
            .header("x-amz-metadata-directive", "REPLACE")
            .header("x-amz-meta-n", "2"));
    TestAnswer got = s3.ok(200, "GET", "/bkt/k");
    assertFalse(got.headers().contains("x-amz-meta-m"));
    assertEquals("2", got.header("x-amz-meta-n"));
    assertEquals("x", got.text());
  }

  @Test
  void badCopiesAreRefused() throws Exception {
    s3.ok(200, put("/bkt/owned", "x"));
    TestRequest ofOther =
        TestS3.request("PUT", "/bkt/copy").header("x-amz-copy-source", "bkt/owned");
    s3.refused("AccessDenied", ofOther.header("x-amz-source-expected-bucket-owner", "other"));
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt/copy")
            .header("x-amz-copy-source", "bkt/owned")
            .header("x-amz-source-expected-bucket-owner", "owner"));
    String etag = s3.ok(200, put("/bkt/k", "x")).header("ETag");
    assertCopyRefused("NoSuchKey", "bkt/none");
    assertCopyRefused("NoSuchBucket", "none/k");
    assertCopyRefused("InvalidArgument", "bkt");
    assertCopyRefused("InvalidArgument", "/bkt/");
    assertCopyRefused("InvalidArgument", "");
    assertCopyRefused("InvalidArgument", "bkt/k?versionId=7");
    assertCopyRefused("PreconditionFailed", "bkt/k", "x-amz-copy-source-if-match", "y");
    assertCopyRefused("PreconditionFailed", "bkt/k", "x-amz-copy-source-if-none-match", etag);
    assertCopyRefused("PreconditionFailed", "bkt/k", "x-amz-copy-source-if-modified-since", FUTURE);
    assertCopyRefused("PreconditionFailed", "bkt/k", "x-amz-copy-source-if-unmodified-since", PAST);
    assertCopyRefused("InvalidArgument", "bkt/k", "x-amz-metadata-directive", "MERGE");
    assertCopyRefused("NotImplemented", "bkt/k", "x-amz-checksum-algorithm", "SHA256");
    assertCopyRefused("InvalidArgument", "bkt/k", "x-amz-tagging-directive", "MERGE");
    s3.refused("NoSuchKey", "GET", "/bkt/c");
  }

  private void assertCopyRefused(String code, String source, String... header) throws Exception {
    TestRequest copy = TestS3.request("PUT", "/bkt/c").header("x-amz-copy-source", source);
    if (header.length > 0) {
      copy.header(header[0], header[1]);
    }
    s3.refused(code, copy);
  }
}
