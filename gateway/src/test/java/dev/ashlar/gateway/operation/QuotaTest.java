package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.gateway.form.FormBody;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.Quota;
import dev.ashlar.protocol.message.SetAccountQuota;
import dev.ashlar.protocol.message.SetBucketQuota;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a quota does not permit is refused and leaves nothing behind. */
class QuotaTest {
  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void createBucket() throws Exception {
    s3.ok(200, "PUT", "/bkt");
  }

  private static TestRequest put(String path, int bytes) {
    return TestS3.request("PUT", path).body("x".repeat(bytes));
  }

  private void limitBucket(long bytes, long objects) throws Exception {
    s3.metadata.require(
        Command.newBuilder()
            .setSetBucketQuota(
                SetBucketQuota.newBuilder()
                    .setBucket("bkt")
                    .setQuota(Quota.newBuilder().setBytesMax(bytes).setObjectsMax(objects))));
  }

  private long bytesUsed() throws Exception {
    return s3.metadata.bucketUsage("bkt").orElseThrow().getBytes();
  }

  @Test
  void bytesOfABucket() throws Exception {
    limitBucket(100, 0);
    s3.ok(200, put("/bkt/a", 60));
    TestAnswer refused = s3.send(put("/bkt/b", 41));
    assertEquals("QuotaExceeded", refused.code());
    assertEquals(403, refused.status());
    s3.ok(200, put("/bkt/b", 40));
    s3.refused(
        "QuotaExceeded", TestS3.request("PUT", "/bkt/c").header("x-amz-copy-source", "/bkt/a"));
    s3.refused("QuotaExceeded", TestS3.request("PUT", "/bkt/a?append&position=60").body("x"));
    s3.refused(
        "QuotaExceeded",
        TestS3.request("PATCH", "/bkt/a").header("Content-Range", "bytes 60-60/*").body("x"));
    s3.refused(
        "QuotaExceeded",
        TestS3.request("POST", "/bkt").form(new FormBody().field("key", "c").file("x", "1")));
    String id = s3.ok(200, "POST", "/bkt/m?uploads").element("UploadId");
    s3.refused("QuotaExceeded", put("/bkt/m?partNumber=1&uploadId=" + id, 1));
    assertEquals(100, bytesUsed());
    // What takes no more than it frees is possible, and deleting makes room.
    s3.ok(200, put("/bkt/a", 60));
    s3.ok(200, TestS3.request("PATCH", "/bkt/a").header("Content-Range", "bytes 0-0/*").body("y"));
    s3.ok(204, "DELETE", "/bkt/b");
    s3.ok(200, put("/bkt/m?partNumber=1&uploadId=" + id, 40));
    s3.refused("NoSuchKey", "GET", "/bkt/c");
  }

  @Test
  void objectsOfABucket() throws Exception {
    limitBucket(0, 1);
    s3.ok(200, put("/bkt/a", 1));
    s3.refused("QuotaExceeded", put("/bkt/b", 1));
    s3.ok(200, put("/bkt/a", 2));
    s3.ok(204, "DELETE", "/bkt/a");
    s3.ok(200, put("/bkt/b", 1));
  }

  @Test
  void bytesOfAnAccount() throws Exception {
    s3.metadata.require(
        Command.newBuilder()
            .setSetAccountQuota(
                SetAccountQuota.newBuilder()
                    .setOwner("owner")
                    .setQuota(Quota.newBuilder().setBytesMax(100))));
    s3.ok(200, "PUT", "/two");
    s3.ok(200, put("/bkt/a", 60));
    s3.refused("QuotaExceeded", put("/two/a", 41));
    s3.ok(200, put("/two/a", 40));
    s3.ok(200, TestS3.request("PUT", "/other").header("x-test-owner", "other"));
    s3.ok(200, put("/other/a", 60).header("x-test-owner", "other"));
  }
}
