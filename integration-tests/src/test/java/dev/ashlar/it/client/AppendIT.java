package dev.ashlar.it.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
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
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.ChecksumMode;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Appends through the SDK (writeOffsetBytes), whose default checksum verifies every read. */
@ExtendWith(SharedServer.class)
class AppendIT {
  private static final int UNIT = 16 << 10;
  private static final int STRIPE = 4 * UNIT;

  private final ServerProcess server;
  private final S3Client s3;
  private final String bucket;
  private final long seed = Seeds.seed("AppendIT");

  AppendIT(ServerProcess server) {
    this.server = server;
    s3 = Clients.sync(server);
    bucket = Buckets.create(s3, "append");
  }

  @AfterAll
  void close() {
    s3.close();
  }

  private PutObjectResponse append(String key, long offset, byte[] body) {
    return s3.putObject(
        b -> b.bucket(bucket).key(key).writeOffsetBytes(offset), RequestBody.fromBytes(body));
  }

  private void put(String key, byte[] body) {
    s3.putObject(b -> b.bucket(bucket).key(key), RequestBody.fromBytes(body));
  }

  private byte[] get(String key) {
    return s3.getObjectAsBytes(b -> b.bucket(bucket).key(key)).asByteArrayUnsafe();
  }

  private byte[] get(String key, int from, int to) {
    String range = "bytes=" + from + "-" + (to - 1);
    return s3.getObjectAsBytes(b -> b.bucket(bucket).key(key).range(range)).asByteArrayUnsafe();
  }

  /** From every length around a boundary to every other one, created both ways. */
  @ParameterizedTest
  @ValueSource(
      ints = {
        0,
        1,
        4095,
        4096,
        4097,
        UNIT - 1,
        UNIT,
        UNIT + 1,
        3 * UNIT + 5,
        STRIPE - 1,
        STRIPE,
        STRIPE + 1,
        STRIPE + UNIT,
        3 * STRIPE - 1
      })
  void anObjectGrowsOverEveryBoundary(int first) {
    int[] ends = {
      first + 1,
      UNIT - 1,
      UNIT,
      UNIT + 1,
      2 * UNIT,
      STRIPE - 1,
      STRIPE,
      STRIPE + 1,
      STRIPE + UNIT + 1,
      2 * STRIPE,
      5 * STRIPE + 3
    };
    byte[] whole = new Content(seed + first, 5 * STRIPE + 3).bytes();
    for (int end : IntStream.of(ends).distinct().toArray()) {
      if (end <= first) {
        continue;
      }
      String key = "grow/" + first + "-" + end;
      if (end % 2 == 0 || first == 0) {
        put(key, Arrays.copyOf(whole, first));
      } else {
        append(key, 0, Arrays.copyOf(whole, first));
      }
      PutObjectResponse grown = append(key, first, Arrays.copyOfRange(whole, first, end));
      assertEquals(end, grown.size(), key);
      byte[] expected = Arrays.copyOf(whole, end);
      assertArrayEquals(expected, get(key), () -> key + ", seed " + seed);
      int from = Math.max(0, first - 7);
      int to = Math.min(end, first + 7);
      assertArrayEquals(Arrays.copyOfRange(whole, from, to), get(key, from, to), key);
      HeadObjectResponse head = s3.headObject(b -> b.bucket(bucket).key(key));
      assertEquals(end, head.contentLength());
      assertEquals(grown.eTag(), head.eTag());
    }
  }

  @Test
  void aLogOfManySmallRecords() {
    SplittableRandom random = new SplittableRandom(seed);
    byte[] whole = new Content(seed, 400_000).bytes();
    int size = 0;
    while (size < whole.length) {
      int end =
          Math.min(whole.length, size + 1 + random.nextInt(random.nextBoolean() ? 500 : 9000));
      append("log", size, Arrays.copyOfRange(whole, size, end));
      size = end;
      if (random.nextInt(10) == 0) {
        assertArrayEquals(Arrays.copyOf(whole, size), get("log"), "seed " + seed);
      }
    }
    assertArrayEquals(whole, get("log"), "seed " + seed);
  }

  @Test
  void aShorterPutReplacesAllThatWasAppended() {
    byte[] whole = new Content(seed, 3 * STRIPE).bytes();
    for (int length : new int[] {0, 1, UNIT - 1, UNIT, UNIT + 1, STRIPE - 1, STRIPE, STRIPE + 1}) {
      String key = "shorter/" + length;
      append(key, 0, Arrays.copyOf(whole, UNIT + 1));
      append(key, UNIT + 1, Arrays.copyOfRange(whole, UNIT + 1, 3 * STRIPE));
      byte[] other = new Content(seed + 1, length).bytes();
      put(key, other);
      assertArrayEquals(other, get(key), key);
      append(key, length, Arrays.copyOf(whole, STRIPE));
      byte[] expected = Arrays.copyOf(other, length + STRIPE);
      System.arraycopy(whole, 0, expected, length, STRIPE);
      assertArrayEquals(expected, get(key), () -> key + ", seed " + seed);
    }
  }

  @Test
  void copiesAndMultipartObjectsGrowByThemselves() {
    byte[] whole = new Content(seed, 2 * STRIPE).bytes();
    append("origin", 0, Arrays.copyOf(whole, UNIT));
    s3.copyObject(
        b ->
            b.sourceBucket(bucket)
                .sourceKey("origin")
                .destinationBucket(bucket)
                .destinationKey("copy"));
    append("copy", UNIT, Arrays.copyOfRange(whole, UNIT, STRIPE));
    append("origin", UNIT, Arrays.copyOfRange(whole, STRIPE, 2 * STRIPE));
    append("copy", STRIPE, Arrays.copyOfRange(whole, STRIPE, STRIPE + 1));
    assertArrayEquals(Arrays.copyOf(whole, STRIPE + 1), get("copy"));
    byte[] expected = Arrays.copyOf(whole, UNIT + STRIPE);
    System.arraycopy(whole, STRIPE, expected, UNIT, STRIPE);
    assertArrayEquals(expected, get("origin"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"CRC32", "CRC32_C", "SHA256"})
  void checksumsOfTheWhole(String name) throws Exception {
    ChecksumAlgorithm algorithm = ChecksumAlgorithm.valueOf(name);
    String key = "checksum/" + name;
    byte[] whole = new Content(seed, 100_000).bytes();
    for (int from = 0; from < whole.length; from += 20_000) {
      long offset = from;
      byte[] body = Arrays.copyOfRange(whole, from, from + 20_000);
      s3.putObject(
          b -> b.bucket(bucket).key(key).writeOffsetBytes(offset).checksumAlgorithm(algorithm),
          RequestBody.fromBytes(body));
    }
    HeadObjectResponse head =
        s3.headObject(b -> b.bucket(bucket).key(key).checksumMode(ChecksumMode.ENABLED));
    String field = "Checksum" + algorithm;
    if (algorithm == ChecksumAlgorithm.SHA256) {
      assertNull(head.getValueForField(field, String.class).orElse(null));
    } else {
      PutObjectResponse plain =
          s3.putObject(
              b -> b.bucket(bucket).key("plain/" + name).checksumAlgorithm(algorithm),
              RequestBody.fromBytes(whole));
      assertEquals(
          plain.getValueForField(field, String.class), head.getValueForField(field, String.class));
      assertEquals("FULL_OBJECT", head.checksumTypeAsString());
    }
    assertArrayEquals(whole, get(key));
  }

  @Test
  void radosgwAppends() throws Exception {
    byte[] whole = new Content(seed, STRIPE + 100).bytes();
    try (ChangeClient client = new ChangeClient(server, bucket)) {
      int[] ends = {1, 4096, UNIT, UNIT + 1, STRIPE - 1, STRIPE + 100};
      int size = 0;
      for (int end : ends) {
        String method = end % 2 == 0 ? "PUT" : "POST";
        Answer answer = client.append(method, "rgw", size, Arrays.copyOfRange(whole, size, end));
        assertEquals(200, answer.status(), answer::toString);
        assertEquals("" + end, answer.headers().get("x-rgw-next-append-position"));
        Answer again = client.append(method, "rgw", size, new byte[3]);
        assertEquals("409 PositionNotEqualToLength", again.status() + " " + again.code());
        assertEquals("" + end, again.headers().get("x-rgw-next-append-position"));
        size = end;
      }
      assertArrayEquals(whole, client.get("rgw"));
    }
  }

  @Test
  void ofClientsWithTheSameOffsetOneWins() throws Exception {
    put("race", new byte[100]);
    try (ExecutorService clients = Executors.newFixedThreadPool(6)) {
      for (int round = 0; round < 10; round++) {
        long offset = 100 + 3000L * round;
        List<Callable<Integer>> calls = new ArrayList<>();
        for (int client = 0; client < 6; client++) {
          byte[] body = new byte[3000];
          Arrays.fill(body, (byte) (1 + client));
          calls.add(() -> tryAppend("race", offset, body));
        }
        int won = 0;
        for (Future<Integer> outcome : clients.invokeAll(calls)) {
          won += outcome.get();
        }
        assertEquals(1, won, "round " + round);
      }
    }
    byte[] all = get("race");
    assertEquals(100 + 3000 * 10, all.length);
    for (int from = 100; from < all.length; from += 3000) {
      byte winner = all[from];
      assertTrue(winner >= 1 && winner <= 6, "nobody's byte");
      for (int i = from; i < from + 3000; i++) {
        assertEquals(winner, all[i], "a mix at " + i);
      }
    }
  }

  /** 1 if it was appended, 0 if another was first. */
  private int tryAppend(String key, long offset, byte[] body) {
    try {
      append(key, offset, body);
      return 1;
    } catch (S3Exception e) {
      String error = e.statusCode() + " " + e.awsErrorDetails().errorCode();
      assertTrue(
          error.equals("400 InvalidWriteOffset") || error.equals("409 ConditionalRequestConflict"),
          error);
      return 0;
    }
  }
}
