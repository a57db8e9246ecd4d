package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.access.AccessDocument;
import dev.ashlar.gateway.encryption.BucketEncryption;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.form.FormBody;
import dev.ashlar.protocol.layout.EncryptedRuns;
import dev.ashlar.protocol.layout.FrameLayout;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.PutBucketDocument;
import dev.ashlar.protocol.message.ResultCode;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What happens to the bytes of encrypted objects beside the ordinary. */
class EncryptedBytesTest {
  private static final int FRAME = FrameLayout.PLAIN_BYTES;
  private static final String ALGORITHM = "x-amz-server-side-encryption";

  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void createBucket() throws Exception {
    s3.ok(200, "PUT", "/bkt");
  }

  private static TestRequest put(String uri, byte[] body) {
    return TestS3.request("PUT", uri).body(body);
  }

  private static TestRequest patch(int from, byte[] body) {
    return TestS3.request("PATCH", "/bkt/k")
        .header("Content-Range", "bytes " + from + "-" + (from + body.length - 1) + "/*")
        .body(body);
  }

  private ObjectRecord record(String key) throws Exception {
    return s3.metadata.object("bkt", key).orElseThrow().object();
  }

  private void damage(String key, int at) throws Exception {
    s3.store.stored(record(key).getSlices(0).getBlob())[at] ^= 1;
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

  private void bucketStandard(BucketEncryption.Standard standard, String kmsKey) throws Exception {
    PutBucketDocument document =
        PutBucketDocument.newBuilder()
            .setBucket("bkt")
            .setKind(AccessDocument.ENCRYPTION.number())
            .setDocument(new BucketEncryption(standard, kmsKey, false, false).toDocument())
            .build();
    assertEquals(
        ResultCode.OK,
        s3.metadata.submit(Command.newBuilder().setPutBucketDocument(document)).getCode());
  }

  // ---- Damage ----

  /** A short object is answered from memory, a long one as a stream; both before the head. */
  @ParameterizedTest
  @ValueSource(ints = {1000, 3 * FRAME})
  void damagedBytesAreAnErrorAndNeverSent(int length) throws Exception {
    byte[] body = TestS3.randomBytes(length, 1);
    s3.ok(200, TestKeys.withMaster(put("/bkt/k", body)));
    damage("k", 500);
    s3.refused("InternalError", "GET", "/bkt/k");
    s3.refused("InternalError", TestS3.request("GET", "/bkt/k").header("Range", "bytes=0-0"));
    s3.ok(200, "HEAD", "/bkt/k");
    s3.refused(
        "InternalError", TestS3.request("PUT", "/bkt/copy").header("x-amz-copy-source", "bkt/k"));
    s3.refused("NoSuchKey", "GET", "/bkt/copy");
  }

  @Test
  void theErrorNamesTheObject() throws Exception {
    s3.ok(200, TestKeys.withMaster(put("/bkt/a%0Ab", TestS3.randomBytes(1000, 30))));
    damage("a\nb", 500);
    S3Exception e =
        assertThrows(
            S3Exception.class, () -> s3.handler().handle(TestS3.request("GET", "/bkt/a%0Ab")));
    assertEquals(
        "Object bkt/a%0Ab, version null: Frame 0 of an encrypted object, at its byte 0, is"
            + " damaged: its tag is wrong",
        Objects.requireNonNull(e.getCause()).getMessage());
  }

  @Test
  void aChangeKeepsNoDamagedBytes() throws Exception {
    byte[] body = TestS3.randomBytes(FRAME + 1000, 2);
    s3.ok(200, TestKeys.withMaster(put("/bkt/k", body)));
    damage("k", FrameLayout.FRAME_BYTES + 500);
    String etag = s3.ok(200, "HEAD", "/bkt/k").header("ETag");
    byte[] more = TestS3.randomBytes(10, 3);
    s3.refused("InternalError", put("/bkt/k?append&position=" + body.length, more));
    s3.refused("InternalError", patch(FRAME + 3, more));
    assertEquals(etag, s3.ok(200, "HEAD", "/bkt/k").header("ETag"));
    s3.ok(200, patch(3, more)); // the first frame is intact
    s3.ok(200, patch(FRAME, TestS3.randomBytes(1000, 4))); // replaces the damaged one whole
    System.arraycopy(more, 0, body, 3, 10);
    System.arraycopy(TestS3.randomBytes(1000, 4), 0, body, FRAME, 1000);
    assertArrayEquals(body, s3.ok(200, "GET", "/bkt/k").body());
  }

  // ---- Changes at once ----

  @Test
  void changesOfOneFrameAtOnceAreBothKept() throws Exception {
    byte[] body = TestS3.randomBytes(5000, 5);
    s3.ok(200, TestKeys.withMaster(put("/bkt/k", body)));
    byte[] first = TestS3.randomBytes(100, 6);
    byte[] second = TestS3.randomBytes(100, 7);
    s3.store.beforeCommit(unchecked(patch(1000, second)));
    s3.ok(200, patch(500, first));
    System.arraycopy(first, 0, body, 500, 100);
    System.arraycopy(second, 0, body, 1000, 100);
    assertArrayEquals(body, s3.ok(200, "GET", "/bkt/k").body());
  }

  @Test
  void ofTwoAppendsAtOnceOneIsRefused() throws Exception {
    s3.ok(200, TestKeys.withMaster(put("/bkt/k", TestS3.randomBytes(100, 8))));
    byte[] more = TestS3.randomBytes(10, 9);
    s3.store.beforeCommit(unchecked(put("/bkt/k?append&position=100", more)));
    s3.refused("PositionNotEqualToLength", put("/bkt/k?append&position=100", more));
    assertEquals(110, s3.ok(200, "GET", "/bkt/k").body().length);
  }

  @Test
  void aLongChangeThatLosesIsAConflict() throws Exception {
    byte[] body = TestS3.randomBytes(2 << 20, 10);
    s3.ok(200, TestKeys.withMaster(put("/bkt/k", body)));
    byte[] other = TestS3.randomBytes(10, 11);
    s3.store.beforeCommit(unchecked(patch(0, other)));
    s3.refused("ConcurrentUpdatesPatchConflict", patch(100, TestS3.randomBytes((1 << 20) + 1, 12)));
    System.arraycopy(other, 0, body, 0, 10);
    assertArrayEquals(body, s3.ok(200, "GET", "/bkt/k").body());
  }

  /** In the time between, another object takes the place: with another key, or plain. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aChangeMeetsAnotherObject(boolean isSealed) throws Exception {
    s3.ok(200, TestKeys.withMaster(put("/bkt/k", TestS3.randomBytes(5000, 13))));
    byte[] body = TestS3.randomBytes(6000, 14);
    TestRequest other = put("/bkt/k", body);
    s3.store.beforeCommit(unchecked(isSealed ? TestKeys.withMaster(other) : other));
    byte[] bytes = TestS3.randomBytes(10, 15);
    TestAnswer answer = s3.send(patch(100, bytes));
    if (isSealed) {
      assertEquals("", answer.code());
      System.arraycopy(bytes, 0, body, 100, 10);
    } else {
      assertEquals("ConcurrentUpdatesPatchConflict", answer.code());
    }
    assertArrayEquals(body, s3.ok(200, "GET", "/bkt/k").body());
  }

  @Test
  void aSealedObjectTakesThePlaceOfOneThatIsPatched() throws Exception {
    s3.ok(200, put("/bkt/k", TestS3.randomBytes(5000, 16)));
    byte[] body = TestS3.randomBytes(6000, 17);
    s3.store.beforeCommit(unchecked(TestKeys.withMaster(put("/bkt/k", body))));
    s3.refused("ConcurrentUpdatesPatchConflict", patch(100, TestS3.randomBytes(10, 18)));
    assertArrayEquals(body, s3.ok(200, "GET", "/bkt/k").body());
  }

  @Test
  void anEmptyObjectGrows() throws Exception {
    s3.ok(200, TestKeys.withCustomer(put("/bkt/k", new byte[0]), 1));
    assertEquals(1, record("k").getFacts().getRunsCount());
    byte[] body = TestS3.randomBytes(100, 19);
    s3.refused("InvalidRequest", put("/bkt/k?append&position=0", body));
    s3.refused("InvalidArgument", TestKeys.withCustomer(put("/bkt/k?append&position=0", body), 2));
    s3.ok(200, TestKeys.withCustomer(put("/bkt/k?append&position=0", body), 1));
    s3.refused("InvalidRequest", patch(3, body));
    s3.ok(200, TestKeys.withCustomer(patch(50, body), 1));
    byte[] after = Arrays.copyOf(body, 150);
    System.arraycopy(body, 0, after, 50, 100);
    TestRequest get = TestKeys.withCustomer(TestS3.request("GET", "/bkt/k"), 1);
    assertArrayEquals(after, s3.ok(200, get).body());
  }

  /** Of an append, all but the last frame stays as it is. */
  @Test
  void anAppendWritesOnlyFramesThatChange() throws Exception {
    s3.ok(200, TestKeys.withMaster(put("/bkt/k", TestS3.randomBytes(2 * FRAME + 5, 20))));
    s3.ok(200, put("/bkt/k?append&position=" + (2 * FRAME + 5), TestS3.randomBytes(7, 21)));
    assertEquals(
        List.of(2L * FrameLayout.FRAME_BYTES, 12L + 28),
        record("k").getSlicesList().stream().map(slice -> slice.getLength()).toList());
  }

  // ---- Uploads ----

  @Test
  void partsNeedTheKeyOfTheirUpload() throws Exception {
    String upload = beginWithCustomer();
    String part = "/bkt/k?partNumber=1&uploadId=" + upload;
    byte[] body = TestS3.randomBytes(FRAME + 1, 22);
    s3.refused("InvalidRequest", put(part, body));
    s3.refused("InvalidArgument", TestKeys.withCustomer(put(part, body), 2));
    s3.ok(200, put("/bkt/source", body));
    s3.refused(
        "InvalidRequest", TestS3.request("PUT", part).header("x-amz-copy-source", "bkt/source"));
    String etag = s3.ok(200, TestKeys.withCustomer(put(part, body), 1)).header("ETag");
    TestRequest complete =
        TestS3.request("POST", "/bkt/k?uploadId=" + upload)
            .body(
                "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"
                    + etag
                    + "</ETag></Part></CompleteMultipartUpload>");
    s3.refused(
        "InvalidArgument", TestKeys.withCustomer(complete.to("/bkt/k?uploadId=" + upload), 2));
    s3.ok(200, complete); // without a checksum to make, nobody needs the key
    assertArrayEquals(
        body, s3.ok(200, TestKeys.withCustomer(TestS3.request("GET", "/bkt/k"), 1)).body());
  }

  @Test
  void partThatIsSentAgainHasTheSameEtag() throws Exception {
    String upload = beginWithCustomer();
    byte[] body = TestS3.randomBytes(1000, 24);
    String etag = partEtag(upload, body);
    assertEquals(etag, partEtag(upload, body));
    assertNotEquals(etag, partEtag(upload, TestS3.randomBytes(1000, 25)));
    assertNotEquals(etag, partEtag(beginWithCustomer(), body));
    assertNotEquals(s3.ok(200, put("/bkt/plain", body)).header("ETag"), etag);
  }

  private String beginWithCustomer() throws Exception {
    TestRequest create = TestS3.request("POST", "/bkt/k?uploads");
    return s3.ok(200, TestKeys.withCustomer(create, 1)).element("UploadId");
  }

  private String partEtag(String upload, byte[] body) throws Exception {
    TestRequest part = put("/bkt/k?partNumber=1&uploadId=" + upload, body);
    return s3.ok(200, TestKeys.withCustomer(part, 1)).header("ETag");
  }

  @Test
  void attributesNeedTheKey() throws Exception {
    byte[] body = TestS3.randomBytes(FRAME + 1, 23);
    s3.ok(200, TestKeys.withCustomer(put("/bkt/k", body), 1));
    TestRequest get =
        TestS3.request("GET", "/bkt/k?attributes")
            .header("x-amz-object-attributes", "ObjectSize,Checksum");
    s3.refused("InvalidRequest", get.to("/bkt/k?attributes"));
    s3.refused("InvalidArgument", TestKeys.withCustomer(get.to("/bkt/k?attributes"), 2));
    assertEquals(
        Integer.toString(body.length),
        s3.ok(200, TestKeys.withCustomer(get, 1)).element("ObjectSize"));
  }

  /** Whoever does not know the key does not learn the MD5 of the bytes either. */
  @Test
  void copiesToOtherModesGetOtherEtags() throws Exception {
    s3.ok(200, TestKeys.withMaster(put("/bkt/k", TestS3.randomBytes(100, 24))));
    String md5 = s3.ok(200, "HEAD", "/bkt/k").header("ETag");
    TestRequest copy = TestS3.request("PUT", "/bkt/kms").header("x-amz-copy-source", "bkt/k");
    s3.ok(200, TestKeys.withKms(copy, TestKeys.KMS_1));
    assertNotEquals(md5, s3.ok(200, "HEAD", "/bkt/kms").header("ETag"));
    s3.ok(200, TestS3.request("PUT", "/bkt/plain").header("x-amz-copy-source", "bkt/kms"));
    assertEquals(md5, s3.ok(200, "HEAD", "/bkt/plain").header("ETag"));
  }

  /** Clients compare it with what they download. */
  @Test
  void copiesToSseS3HaveTheMd5AsTheirEtag() throws Exception {
    byte[] body = TestS3.randomBytes(FRAME + 100, 27);
    String md5 = s3.ok(200, put("/bkt/plain", body)).header("ETag");
    s3.ok(200, TestKeys.withKms(put("/bkt/kms", body), TestKeys.KMS_1));
    s3.ok(200, TestKeys.withCustomer(put("/bkt/customer", body), 1));
    for (String source : List.of("kms", "customer")) {
      TestRequest copy =
          TestKeys.withMaster(
              TestS3.request("PUT", "/bkt/copy").header("x-amz-copy-source", "bkt/" + source));
      TestAnswer answer = s3.ok(200, source.equals("kms") ? copy : TestKeys.ofSource(copy, 1));
      assertEquals(md5, answer.element("ETag"), source);
      TestAnswer got = s3.ok(200, "GET", "/bkt/copy");
      assertEquals(md5, got.header("ETag"), source);
      assertEquals("AES256", got.header(ALGORITHM));
      assertArrayEquals(body, got.body());
    }
  }

  // ---- Appends that say how the object is encrypted ----

  private void assertAppends(String answer, String key, UnaryOperator<TestRequest> headers)
      throws Exception {
    byte[] more = TestS3.randomBytes(10, 28);
    long size = record(key).getSummary().getSize();
    TestRequest append = put("/bkt/" + key + "?append&position=" + size, more);
    assertEquals(answer, s3.send(headers.apply(append)).code());
  }

  /** A policy that demands a header must not be met by one that changes nothing. */
  @Test
  void anAppendSaysHowTheObjectIsEncrypted() throws Exception {
    byte[] body = TestS3.randomBytes(100, 29);
    String context = "x-amz-server-side-encryption-context";
    s3.ok(200, put("/bkt/plain", body));
    s3.ok(200, TestKeys.withMaster(put("/bkt/master", body)));
    s3.ok(
        200,
        TestKeys.withKms(put("/bkt/kms", body), TestKeys.KMS_1).header(context, "eyJhIjoiYiJ9"));
    for (String key : List.of("plain", "master", "kms")) {
      assertAppends("", key, append -> append);
    }
    assertAppends("InvalidRequest", "plain", TestKeys::withMaster);
    assertAppends("", "master", TestKeys::withMaster);
    assertAppends("InvalidRequest", "kms", TestKeys::withMaster);
    for (String key : List.of("plain", "master")) {
      assertAppends("InvalidRequest", key, append -> TestKeys.withKms(append, TestKeys.KMS_1));
      assertAppends("InvalidRequest", key, append -> append.header(context, "e30="));
    }
    assertAppends("", "kms", append -> TestKeys.withKms(append, TestKeys.KMS_1));
    assertAppends("InvalidRequest", "kms", append -> TestKeys.withKms(append, TestKeys.KMS_2));
    assertAppends("", "kms", append -> append.header(context, "eyAiYSI6ICJiIiB9"));
    assertAppends("InvalidRequest", "kms", append -> append.header(context, "e30="));
    assertAppends("InvalidArgument", "kms", append -> append.header(context, "?"));
  }

  // ---- The default of a bucket ----

  @Test
  void theDefaultOfTheBucketCountsForEveryNewObject() throws Exception {
    bucketStandard(BucketEncryption.Standard.KMS, TestKeys.KMS_2);
    byte[] body = TestS3.randomBytes(100, 25);
    s3.ok(200, put("/bkt/put", body));
    s3.ok(200, put("/bkt/append?append&position=0", body));
    s3.ok(
        204,
        TestS3.request("POST", "/bkt").form(new FormBody().field("key", "form").file("x", body)));
    s3.ok(200, TestS3.request("PUT", "/bkt/copy").header("x-amz-copy-source", "bkt/put"));
    for (String key : List.of("put", "append", "form", "copy")) {
      assertTrue(EncryptedRuns.isEncrypted(record(key)), key);
      TestAnswer got = s3.ok(200, "GET", "/bkt/" + key);
      assertArrayEquals(body, got.body());
      assertEquals("aws:kms", got.header(ALGORITHM));
      assertEquals(TestKeys.KMS_2, got.header(ALGORITHM + "-aws-kms-key-id"));
    }
    TestRequest other = TestS3.request("PUT", "/bkt/copy").header("x-amz-copy-source", "bkt/put");
    assertEquals("AES256", s3.ok(200, TestKeys.withMaster(other)).header(ALGORITHM));
    String upload = s3.ok(200, "POST", "/bkt/k?uploads").element("UploadId");
    assertEquals(
        "aws:kms",
        s3.ok(200, put("/bkt/k?partNumber=1&uploadId=" + upload, body)).header(ALGORITHM));
  }

  @Test
  void accessLogsAreEncryptedAsTheirBucketSays() throws Exception {
    bucketStandard(BucketEncryption.Standard.MASTER, "");
    s3.ok(200, "PUT", "/src");
    s3.ok(
        204,
        TestS3.request("PUT", "/bkt?policy")
            .body(
                """
                {"Version": "2012-10-17", "Statement": [{"Effect": "Allow",
                  "Principal": {"Service": "logging.s3.amazonaws.com"},
                  "Action": "s3:PutObject", "Resource": "arn:aws:s3:::bkt/*"}]}
                """));
    s3.ok(
        200,
        TestS3.request("PUT", "/src?logging")
            .body(
                "<BucketLoggingStatus><LoggingEnabled><TargetBucket>bkt</TargetBucket>"
                    + "<TargetPrefix>log/</TargetPrefix></LoggingEnabled></BucketLoggingStatus>"));
    s3.ok(200, put("/src/k", TestS3.randomBytes(10, 26)));
    s3.deliverLogs();
    List<String> keys = s3.ok(200, "GET", "/bkt").each("Contents", "Key");
    assertFalse(keys.isEmpty());
    assertTrue(EncryptedRuns.isEncrypted(record(keys.getFirst())));
    assertTrue(s3.ok(200, "GET", "/bkt/" + keys.getFirst()).text().contains("REST.PUT.OBJECT"));
  }
}
