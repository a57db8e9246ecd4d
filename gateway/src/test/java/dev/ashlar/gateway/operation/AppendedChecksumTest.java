package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.gateway.checksum.ChecksumKind;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import java.io.ByteArrayOutputStream;
import java.util.EnumSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of an object's checksum when it grows or is overwritten. */
class AppendedChecksumTest {
  private static final List<ChecksumAlgorithm> CRCS =
      List.of(
          ChecksumAlgorithm.CHECKSUM_CRC32,
          ChecksumAlgorithm.CHECKSUM_CRC32C,
          ChecksumAlgorithm.CHECKSUM_CRC64NVME);

  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void createBucket() throws Exception {
    s3.ok(200, "PUT", "/bkt");
  }

  /** Adds the body's checksum of this algorithm; none for NONE. */
  private static TestRequest with(ChecksumAlgorithm algorithm, TestRequest request, byte[] body) {
    request.body(body);
    return algorithm == ChecksumAlgorithm.CHECKSUM_NONE
        ? request
        : request.header(
            ChecksumKind.of(algorithm).header(), TestAuthenticator.base64(algorithm, body));
  }

  private TestAnswer append(ChecksumAlgorithm algorithm, long offset, byte[] body)
      throws Exception {
    TestRequest request =
        TestS3.request("PUT", "/bkt/k").header("x-amz-write-offset-bytes", "" + offset);
    return s3.ok(200, with(algorithm, request, body));
  }

  private void assertChecksum(ChecksumAlgorithm algorithm, byte[] whole) throws Exception {
    TestAnswer head =
        s3.ok(200, TestS3.request("HEAD", "/bkt/k").header("x-amz-checksum-mode", "ENABLED"));
    for (ChecksumKind eachKind : ChecksumKind.ALL) {
      ChecksumAlgorithm each = eachKind.algorithm();
      assertEquals(
          each == algorithm ? TestAuthenticator.base64(each, whole) : "",
          head.header(ChecksumKind.of(each).header()));
    }
    assertEquals(
        algorithm == ChecksumAlgorithm.CHECKSUM_NONE ? "" : "FULL_OBJECT",
        head.header("x-amz-checksum-type"));
  }

  @ParameterizedTest
  @EnumSource(
      value = ChecksumAlgorithm.class,
      names = {"CHECKSUM_CRC32", "CHECKSUM_CRC32C", "CHECKSUM_CRC64NVME"})
  void aCrcIsAsIfComputedOverTheWhole(ChecksumAlgorithm algorithm) throws Exception {
    long seed = Long.getLong("ashlar.seed", ThreadLocalRandom.current().nextLong(1L << 48));
    System.out.println("AppendedChecksumTest: replay with -Dashlar.seed=" + seed);
    SplittableRandom random = new SplittableRandom(seed);
    ChecksumAlgorithm[] all =
        EnumSet.complementOf(EnumSet.of(ChecksumAlgorithm.UNRECOGNIZED))
            .toArray(ChecksumAlgorithm[]::new);
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    append(algorithm, 0, bytes(random, whole));
    for (int i = 0; i < 30; i++) {
      int offset = whole.size();
      byte[] body = bytes(random, whole);
      ChecksumAlgorithm announced = all[random.nextInt(all.length)];
      TestAnswer answer = append(announced, offset, body);
      if (announced != ChecksumAlgorithm.CHECKSUM_NONE) {
        // What the client sent, so that it can compare; the type would be the object's.
        assertEquals(
            TestAuthenticator.base64(announced, body),
            answer.header(ChecksumKind.of(announced).header()));
      }
      assertEquals("", answer.header("x-amz-checksum-type"));
      assertChecksum(algorithm, whole.toByteArray());
    }
  }

  private static byte[] bytes(SplittableRandom random, ByteArrayOutputStream whole) {
    byte[] body = new byte[1 + random.nextInt(25_000)];
    random.nextBytes(body);
    whole.writeBytes(body);
    return body;
  }

  @Test
  void theFirstBytesOfAnEmptyObjectBringTheirChecksum() throws Exception {
    byte[] body = TestS3.randomBytes(100, 1);
    for (ChecksumKind announcedKind : ChecksumKind.ALL) {
      ChecksumAlgorithm announced = announcedKind.algorithm();
      s3.ok(
          200, with(ChecksumAlgorithm.CHECKSUM_SHA1, TestS3.request("PUT", "/bkt/k"), new byte[0]));
      append(announced, 0, body);
      assertChecksum(announced, body);
    }
    s3.ok(200, "PUT", "/bkt/k");
    append(ChecksumAlgorithm.CHECKSUM_NONE, 0, body);
    assertChecksum(ChecksumAlgorithm.CHECKSUM_CRC64NVME, body);
  }

  @Test
  void aDigestIsLost() throws Exception {
    byte[] body = TestS3.randomBytes(100, 1);
    for (ChecksumAlgorithm digest :
        List.of(
            ChecksumAlgorithm.CHECKSUM_SHA1,
            ChecksumAlgorithm.CHECKSUM_SHA256,
            ChecksumAlgorithm.CHECKSUM_SHA512,
            ChecksumAlgorithm.CHECKSUM_MD5,
            ChecksumAlgorithm.CHECKSUM_XXHASH64,
            ChecksumAlgorithm.CHECKSUM_XXHASH3,
            ChecksumAlgorithm.CHECKSUM_XXHASH128)) {
      s3.ok(200, with(digest, TestS3.request("PUT", "/bkt/k"), body));
      append(digest, 100, body);
      assertChecksum(ChecksumAlgorithm.CHECKSUM_NONE, body);
      append(ChecksumAlgorithm.CHECKSUM_CRC32, 200, body); // and stays so
      assertChecksum(ChecksumAlgorithm.CHECKSUM_NONE, body);
    }
  }

  @Test
  void aPatchLosesItUnlessItOnlyAppends() throws Exception {
    byte[] body = TestS3.randomBytes(100, 1);
    for (ChecksumAlgorithm crc : CRCS) {
      s3.ok(200, with(crc, TestS3.request("PUT", "/bkt/k"), body));
      TestRequest appending =
          TestS3.request("PATCH", "/bkt/k").header("Content-Range", "bytes 100-199/*");
      s3.ok(200, with(crc, appending, body));
      ByteArrayOutputStream twice = new ByteArrayOutputStream();
      twice.writeBytes(body);
      twice.writeBytes(body);
      assertChecksum(crc, twice.toByteArray());
      TestRequest changing =
          TestS3.request("PATCH", "/bkt/k").header("Content-Range", "bytes 199-298/*");
      s3.ok(200, with(crc, changing, body));
      assertChecksum(ChecksumAlgorithm.CHECKSUM_NONE, body);
    }
  }

  @Test
  void wrongChecksumsChangeNothing() throws Exception {
    byte[] body = TestS3.randomBytes(30_000, 1);
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body(body));
    String etag = s3.ok(200, "HEAD", "/bkt/k").header("ETag");
    int blobs = s3.store.blobCount();
    for (ChecksumKind algorithmKind : ChecksumKind.ALL) {
      ChecksumAlgorithm algorithm = algorithmKind.algorithm();
      String wrong = TestAuthenticator.base64(algorithm, new byte[1]);
      s3.refused(
          "BadDigest",
          TestS3.request("PUT", "/bkt/k")
              .header("x-amz-write-offset-bytes", "30000")
              .header(ChecksumKind.of(algorithm).header(), wrong)
              .body(body));
      s3.refused(
          "BadDigest",
          TestS3.request("PATCH", "/bkt/k")
              .header("Content-Range", "bytes 5-30004/*")
              .header(ChecksumKind.of(algorithm).header(), wrong)
              .body(body));
    }
    assertEquals(etag, s3.ok(200, "HEAD", "/bkt/k").header("ETag"));
    assertChecksum(ChecksumAlgorithm.CHECKSUM_CRC64NVME, body);
    assertEquals(blobs, s3.store.blobCount());
  }
}
