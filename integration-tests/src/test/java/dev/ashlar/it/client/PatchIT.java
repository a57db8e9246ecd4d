package dev.ashlar.it.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.s3.S3Client;

/** Ranges of objects overwritten in place and past their ends, against an array. */
@ExtendWith(SharedServer.class)
class PatchIT {
  private static final int UNIT = 16 << 10;
  private static final int STRIPE = 4 * UNIT;

  private final ServerProcess server;
  private final String bucket;
  private final long seed = Seeds.seed("PatchIT");
  private ChangeClient client;

  PatchIT(ServerProcess server) {
    this.server = server;
    try (S3Client s3 = Clients.sync(server)) {
      bucket = Buckets.create(s3, "patch");
    }
  }

  @BeforeEach
  void connect() throws Exception {
    client = new ChangeClient(server, bucket);
  }

  @AfterEach
  void close() throws Exception {
    client.close();
  }

  private static byte[] patched(byte[] object, int offset, byte[] body) {
    byte[] result = Arrays.copyOf(object, Math.max(object.length, offset + body.length));
    System.arraycopy(body, 0, result, offset, body.length);
    return result;
  }

  /** Ranges that begin and end at and beside the boundaries of blocks, strips and stripes. */
  @ParameterizedTest
  @ValueSource(
      ints = {1, 5120, UNIT - 1, UNIT, UNIT + 1, STRIPE - 1, STRIPE, STRIPE + 1, 3 * STRIPE + 77})
  void rangesAtEveryBoundary(int size) throws Exception {
    int[] places = {
      0,
      1,
      4095,
      4096,
      4097,
      UNIT - 1,
      UNIT,
      UNIT + 1,
      2 * UNIT,
      STRIPE - 1,
      STRIPE,
      STRIPE + 1,
      STRIPE + UNIT - 1,
      2 * STRIPE,
      size - 1,
      size,
      size + 1,
      size + UNIT,
      size + STRIPE + 1
    };
    Arrays.sort(places);
    byte[] object = new Content(seed + size, size).bytes();
    String key = "range/" + size;
    client.put(key, object);
    long salt = 0;
    for (int from : places) {
      for (int to : places) {
        boolean isFar = to > 2 * from + 2 && salt % 3 != 0; // a third of the long ones will do
        if (from < to && from <= size && !isFar) {
          byte[] body = new Content(seed + salt, to - from).bytes();
          Answer answer = client.patch(key, from, body);
          assertEquals(200, answer.status(), () -> from + "-" + to + ": " + answer);
          object = patched(object, from, body);
          String where = size + " patched " + from + " to " + to + ", seed " + seed;
          assertArrayEquals(object, client.get(key), where);
        }
        salt++;
      }
    }
  }

  @Test
  void aRandomSequence() throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    byte[] object = new Content(seed, 300_000).bytes();
    client.put("random", object);
    for (int i = 0; i < 150; i++) {
      int offset = random.nextInt(object.length + 1);
      byte[] body = new Content(seed + i, 1 + random.nextInt(1 << random.nextInt(17))).bytes();
      Answer answer = client.patch("random", offset, body);
      assertEquals(200, answer.status(), answer::toString);
      object = patched(object, offset, body);
      if (i % 10 == 0) {
        assertArrayEquals(object, client.get("random"), "seed " + seed + ", step " + i);
      }
    }
    assertArrayEquals(object, client.get("random"), "seed " + seed);
    client.put("random", Arrays.copyOf(object, UNIT + 1));
    assertArrayEquals(Arrays.copyOf(object, UNIT + 1), client.get("random"));
  }

  private String etag(String key) throws Exception {
    return Objects.requireNonNull(client.head(key).headers().get("etag"));
  }

  @Test
  void theAnswerAndTheConditions() throws Exception {
    client.put("if", new byte[1000]);
    String first = etag("if");
    Answer answer = client.patch("if", 10, new byte[10], "If-Match", first);
    assertEquals(200, answer.status(), answer::toString);
    String second = etag("if");
    assertTrue(
        answer.text().contains("<ETag>" + second.replace("\"", "&quot;") + "</ETag>"),
        answer::text);
    assertTrue(answer.text().contains("<PatchObjectResult><Object><LastModified>"), answer::text);
    assertError("412 PreconditionFailed", client.patch("if", 0, new byte[1], "If-Match", first));
    reconnect();
    assertError(
        "412 PreconditionFailed",
        client.patch("if", 0, new byte[1], "If-Unmodified-Since", "Wed, 01 Jan 2020 00:00:00 GMT"));
    reconnect();
    assertEquals(second, etag("if"));
  }

  private static void assertError(String expected, Answer answer) {
    assertEquals(expected, answer.status() + " " + answer.code(), answer::toString);
  }

  /** An error before the body was read may end the connection. */
  private void reconnect() throws Exception {
    client.close();
    client = new ChangeClient(server, bucket);
  }

  /** Every client owns a range; what it was told was written stays until it writes again. */
  @Test
  void clientsSideBySide() throws Exception {
    int clients = 4;
    int share = 5 * UNIT / 2;
    client.put("shared", new byte[clients * share]);
    List<Callable<byte[]>> calls = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      int offset = i * share;
      long salt = seed + i;
      calls.add(() -> writeAlone(offset, share, salt));
    }
    byte[] expected = new byte[clients * share];
    try (ExecutorService threads = Executors.newFixedThreadPool(clients)) {
      List<Future<byte[]>> shares = threads.invokeAll(calls);
      for (int i = 0; i < clients; i++) {
        System.arraycopy(shares.get(i).get(), 0, expected, i * share, share);
      }
    }
    assertArrayEquals(expected, client.get("shared"), "seed " + seed);
  }

  private byte[] writeAlone(int offset, int length, long salt) throws Exception {
    SplittableRandom random = new SplittableRandom(salt);
    byte[] mine = new byte[length];
    try (ChangeClient own = new ChangeClient(server, bucket)) {
      for (int i = 0; i < 25; ) {
        int from = random.nextInt(length);
        byte[] body =
            new Content(random.nextLong(), 1 + random.nextInt(Math.min(9000, length - from)))
                .bytes();
        Answer answer = own.patch("shared", offset + from, body);
        if (answer.status() == 200) {
          System.arraycopy(body, 0, mine, from, body.length);
          i++;
        } else {
          assertError("409 ConcurrentUpdatesPatchConflict", answer);
        }
      }
    }
    return mine;
  }
}
