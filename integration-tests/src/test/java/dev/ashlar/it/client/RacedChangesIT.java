package dev.ashlar.it.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.HalfSent;
import dev.ashlar.it.harness.RawConnection;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedMultipartUpload;
import software.amazon.awssdk.services.s3.model.CompletedPart;

/**
 * A change is on its way, its body half sent, when another request changes the same object first;
 * and changes of objects that share their data with others. Bodies up to a stripe are held back
 * until the end and tried again, longer ones are on the drives by then.
 */
@ExtendWith(SharedServer.class)
class RacedChangesIT {
  private static final int SIZE = 300_000;
  private static final int PART_BYTES = 5 << 20;

  private final ServerProcess server;
  private final S3Client s3;
  private final String bucket;
  private final long seed = Seeds.seed("RacedChangesIT");
  private final byte[] object = new Content(seed, SIZE).bytes();
  private ChangeClient client;

  RacedChangesIT(ServerProcess server) {
    this.server = server;
    s3 = Clients.sync(server);
    bucket = Buckets.create(s3, "raced");
  }

  @BeforeEach
  void put() throws IOException {
    client = new ChangeClient(server, bucket);
    assertEquals(200, client.put("k", object).status());
  }

  @AfterEach
  void close() throws IOException {
    client.close();
  }

  private byte[] body(int salt, int length) {
    return new Content(seed + salt, length).bytes();
  }

  private static byte[] patched(byte[] before, int offset, byte[] body) {
    byte[] after = Arrays.copyOf(before, Math.max(before.length, offset + body.length));
    System.arraycopy(body, 0, after, offset, body.length);
    return after;
  }

  /** Its body is asked for only when the object has been looked up. */
  private HalfSent half(String method, String query, Map<String, String> headers, byte[] body)
      throws IOException {
    return new HalfSent(
        new RawConnection(server), method, "/" + bucket + "/k", query, headers, body);
  }

  private static String finish(HalfSent half) throws IOException {
    Answer answer = half.finish();
    return answer.status() + " " + answer.code();
  }

  private HalfSent halfPatch(int offset, byte[] body) throws IOException {
    return half("PATCH", "", Map.of("Content-Range", "bytes " + offset + "-/*"), body);
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 60_000, 150_000})
  void anAppendAfterAnother(int length) throws IOException {
    byte[] mine = body(1, length);
    byte[] first = body(2, 5000);
    Map<String, String> offset = Map.of("x-amz-write-offset-bytes", "" + SIZE);
    try (HalfSent express = half("PUT", "", offset, mine);
        HalfSent rgw = half("POST", "append=&position=" + SIZE, Map.of(), mine)) {
      assertEquals(200, client.append("POST", "k", SIZE, first).status());
      assertEquals("400 InvalidWriteOffset", finish(express));
      assertEquals("409 PositionNotEqualToLength", finish(rgw));
    }
    assertArrayEquals(patched(object, SIZE, first), client.get("k"));
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 60_000, 150_000})
  void aPatchAfterAnotherOfTheSamePlace(int length) throws IOException {
    byte[] mine = body(1, length);
    byte[] first = body(2, 5000);
    boolean isTriedAgain = length <= 4 * (16 << 10);
    try (HalfSent patch = halfPatch(70_000, mine)) {
      assertEquals(200, client.patch("k", 69_000, first).status());
      String expected = isTriedAgain ? "200 " : "409 ConcurrentUpdatesPatchConflict";
      assertEquals(expected, finish(patch));
    }
    byte[] expected = patched(object, 69_000, first);
    assertArrayEquals(isTriedAgain ? patched(expected, 70_000, mine) : expected, client.get("k"));
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 60_000, 150_000})
  void aPatchWithIfMatchAfterAnother(int length) throws IOException {
    String etag = client.head("k").headers().get("etag");
    byte[] first = body(2, 10);
    Map<String, String> headers =
        Map.of("Content-Range", "bytes 70000-/*", "If-Match", String.valueOf(etag));
    try (HalfSent patch = half("PATCH", "", headers, body(1, length))) {
      assertEquals(200, client.patch("k", 290_000, first).status()); // quite another place
      assertEquals("412 PreconditionFailed", finish(patch));
    }
    assertArrayEquals(patched(object, 290_000, first), client.get("k"));
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 60_000, 150_000})
  void aChangeOfAnObjectThatBecameShorter(int length) throws IOException {
    byte[] shorter = body(2, 1000);
    Map<String, String> offset = Map.of("x-amz-write-offset-bytes", "" + SIZE);
    try (HalfSent patch = halfPatch(70_000, body(1, length));
        HalfSent append = half("PUT", "", offset, body(1, length))) {
      assertEquals(200, client.put("k", shorter).status());
      assertEquals("416 InvalidRange", finish(patch));
      assertEquals("400 InvalidWriteOffset", finish(append));
    }
    assertArrayEquals(shorter, client.get("k"));
  }

  /** Put anew with the same length: what an append meant to follow is not there any more. */
  @ParameterizedTest
  @ValueSource(ints = {10, 150_000})
  void aChangeOfAnObjectThatWasReplaced(int length) throws IOException {
    byte[] mine = body(1, length);
    byte[] other = body(2, SIZE);
    try (HalfSent patch = halfPatch(70_000, mine)) {
      assertEquals(200, client.put("k", other).status());
      String answer = finish(patch);
      byte[] expected = answer.equals("200 ") ? patched(other, 70_000, mine) : other;
      assertArrayEquals(expected, client.get("k"), answer);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 150_000})
  void aChangeOfAnObjectThatWasDeleted(int length) throws IOException {
    Map<String, String> offset = Map.of("x-amz-write-offset-bytes", "" + SIZE);
    try (HalfSent patch = halfPatch(70_000, body(1, length));
        HalfSent append = half("PUT", "", offset, body(1, length))) {
      assertEquals(204, client.send("DELETE", "k", "", new byte[0], Map.of()).status());
      assertEquals("404 NoSuchKey", finish(patch));
      assertEquals("400 InvalidWriteOffset", finish(append));
    }
    assertEquals(404, client.head("k").status());
  }

  /** Copied while a change of it is on its way: the copy is the object before it. */
  @ParameterizedTest
  @ValueSource(ints = {10, 150_000})
  void aChangeOfAnObjectThatWasCopied(int length) throws IOException {
    byte[] mine = body(1, length);
    try (HalfSent patch = halfPatch(70_000, mine)) {
      copy("k", "copy");
      String answer = finish(patch);
      byte[] expected = answer.equals("200 ") ? patched(object, 70_000, mine) : object;
      assertArrayEquals(expected, client.get("k"), answer);
    }
    assertArrayEquals(object, client.get("copy"));
  }

  private void copy(String from, String to) {
    s3.copyObject(
        b -> b.sourceBucket(bucket).sourceKey(from).destinationBucket(bucket).destinationKey(to));
  }

  /** However it was made, and whichever of the two is changed. */
  @Test
  void copiesKeepTheirBytes() throws IOException {
    byte[] appended = patched(object, SIZE, body(3, 33_333));
    assertEquals(200, client.append("POST", "k", SIZE, body(3, 33_333)).status());
    byte[] multipart = body(4, PART_BYTES + 77_777);
    multipart("multipart", multipart);
    Map<String, byte[]> sources = Map.of("k", appended, "multipart", multipart);
    for (var source : sources.entrySet()) {
      String key = source.getKey();
      byte[] bytes = source.getValue();
      copy(key, key + "/copy");
      String before = identity(key + "/copy");
      byte[] changed = changeEverywhere(key, bytes);
      assertEquals(before, identity(key + "/copy"));
      assertArrayEquals(bytes, client.get(key + "/copy"));
      byte[] changedCopy = changeEverywhere(key + "/copy", bytes);
      assertArrayEquals(changedCopy, client.get(key + "/copy"));
      assertArrayEquals(changed, client.get(key));
    }
  }

  private String identity(String key) throws IOException {
    Map<String, String> headers = client.head(key).headers();
    return headers.get("etag") + headers.get("content-length") + headers.get("last-modified");
  }

  private byte[] changeEverywhere(String key, byte[] before) throws IOException {
    byte[] bytes = before;
    int[] places = {0, 65_530, bytes.length / 2, PART_BYTES - 3, bytes.length - 1, bytes.length};
    for (int i = 0; i < places.length; i++) {
      if (places[i] <= bytes.length) {
        byte[] body = body(10 + key.length() + i, 40_000);
        assertEquals(200, client.patch(key, places[i], body).status());
        bytes = patched(bytes, places[i], body);
      }
    }
    byte[] tail = body(20 + key.length(), 100);
    assertEquals(200, client.append("POST", key, bytes.length, tail).status());
    return patched(bytes, bytes.length, tail);
  }

  private void multipart(String key, byte[] bytes) {
    String upload = s3.createMultipartUpload(b -> b.bucket(bucket).key(key)).uploadId();
    CompletedPart[] parts = new CompletedPart[2];
    for (int i = 0; i < parts.length; i++) {
      int number = i + 1;
      byte[] part =
          Arrays.copyOfRange(bytes, i * PART_BYTES, Math.min(bytes.length, (i + 1) * PART_BYTES));
      String etag =
          s3.uploadPart(
                  b -> b.bucket(bucket).key(key).uploadId(upload).partNumber(number),
                  RequestBody.fromBytes(part))
              .eTag();
      parts[i] = CompletedPart.builder().partNumber(number).eTag(etag).build();
    }
    CompletedMultipartUpload list = CompletedMultipartUpload.builder().parts(parts).build();
    s3.completeMultipartUpload(
        b -> b.bucket(bucket).key(key).uploadId(upload).multipartUpload(list));
  }
}
