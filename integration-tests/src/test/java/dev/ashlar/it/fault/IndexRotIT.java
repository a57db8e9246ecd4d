package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.FileBits;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.Metrics;
import dev.ashlar.it.harness.Parallel;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Bits flip in the drives' indexes, which can be made anew from their logs: nothing is lost,
 * nothing becomes a debt, and nobody has to intervene, however many drives it hits at once.
 */
class IndexRotIT {
  private static final int OBJECTS = 400;
  private static final int NEW_OBJECTS = 40;
  private static final int CLIENTS = 4;
  private static final int BYTES_MAX = 40_000;
  private static final int CHANGE_BYTES_MAX = 9000;
  private static final long DEADLINE_NANOS = TimeUnit.MINUTES.toNanos(2);

  private final long seed = Seeds.seed("IndexRotIT");
  private final SplittableRandom random = new SplittableRandom(seed);

  /** SHA-256 by key. */
  private final Map<String, String> expected = new ConcurrentSkipListMap<>();

  private ServerProcess server;
  private String bucket;

  @BeforeEach
  void start() throws Exception {
    expected.clear();
    server = ServerProcess.start(ServerSpec.named("index-rot"));
    try (S3Client s3 = Clients.sync(server)) {
      bucket = Buckets.create(s3, "index-rot");
    }
    putAndChangeAll("o/", OBJECTS);
  }

  @AfterEach
  void close() {
    server.close();
  }

  private void putAndChangeAll(String prefix, int count) throws Exception {
    List<SplittableRandom> randoms =
        IntStream.range(0, CLIENTS).mapToObj(each -> random.split()).toList();
    Parallel.run(
        CLIENTS,
        number -> {
          try (ChangeClient client = new ChangeClient(server, bucket)) {
            for (int i = number; i < count; i += CLIENTS) {
              putAndChange(client, randoms.get(number), prefix + i);
            }
          }
        });
  }

  private void putAndChange(ChangeClient client, SplittableRandom random, String key)
      throws IOException {
    byte[] bytes = new Content(random.nextLong(), random.nextInt(1, BYTES_MAX)).bytes();
    check(client.put(key, bytes));
    int kind = random.nextInt(4);
    byte[] change = new Content(random.nextLong(), random.nextInt(1, CHANGE_BYTES_MAX)).bytes();
    if (kind == 1) {
      check(client.append("PUT", key, bytes.length, change));
      bytes = written(bytes, bytes.length, change);
    } else if (kind == 2) {
      int offset = random.nextInt(bytes.length);
      check(client.patch(key, offset, change));
      bytes = written(bytes, offset, change);
    }
    expected.put(key, Content.sha256(bytes));
    if (kind == 3) {
      check(client.send("DELETE", key, "", new byte[0], Map.of()));
      expected.remove(key);
    }
  }

  private static void check(Answer answer) {
    assertTrue(answer.status() / 100 == 2, answer::toString);
  }

  private static byte[] written(byte[] bytes, int offset, byte[] change) {
    byte[] all = java.util.Arrays.copyOf(bytes, Math.max(bytes.length, offset + change.length));
    System.arraycopy(change, 0, all, offset, change.length);
    return all;
  }

  @LongTest
  void theIndexesOfThreeDrivesOfSix() throws Exception {
    rot(server.driveFolders().subList(1, 4));
  }

  @LongTest
  void theIndexesOfAllDrives() throws Exception {
    rot(server.driveFolders());
  }

  private void rot(List<Path> folders) throws Exception {
    restart(
        () -> {
          for (Path folder : folders) {
            assertTrue(FileBits.flipInTables(folder.resolve("drive/index"), random) > 0);
          }
        });
    checkAll("after the restart");
    assertTrue(value("ashlar_drive_index_rebuilds_total") >= folders.size(), "all were found");
    restart(() -> {});
    checkAll("after another restart");
    assertEquals(0, value("ashlar_drive_index_rebuilds_total"), "nothing was left to be found");
  }

  /** Something is done with the files of a server that is down. */
  private interface Damage {
    void run() throws IOException;
  }

  private void restart(Damage damage) throws IOException {
    server.stop();
    damage.run();
    server.start();
  }

  private void checkAll(String when) throws Exception {
    readAll(when, true); // what has not been found yet, reads meet
    Await.until(
        "no drive rebuilds its index " + when, () -> value("ashlar_drive_index_rebuilding") == 0);
    readAll(when, false);
    assertEquals(0, value("ashlar_repair_lost_shards_total"), when);
    putAndChangeAll("new/" + when.length() + "/", NEW_OBJECTS);
    readAll(when, false);
    assertEquals(6, value("ashlar_drive_writable"), "drives that take writes " + when);
    Await.until(
        "nothing is owed " + when,
        () -> server.health().contains("\"known\":true,\"debtBlobs\":0,"));
    for (Path folder : server.driveFolders()) {
      try (Stream<Path> files = Files.list(folder.resolve("drive"))) {
        assertFalse(files.toList().isEmpty(), folder::toString);
      }
    }
  }

  /**
   * @param mayWait whether what cannot be read yet may be asked for again
   */
  private void readAll(String when, boolean mayWait) throws Exception {
    List<Map.Entry<String, String>> objects = List.copyOf(expected.entrySet());
    Parallel.run(
        CLIENTS,
        number -> {
          try (ChangeClient client = new ChangeClient(server, bucket)) {
            for (int i = number; i < objects.size(); i += CLIENTS) {
              read(client, objects.get(i), when, mayWait);
            }
          }
        });
  }

  private static void read(
      ChangeClient client, Map.Entry<String, String> object, String when, boolean mayWait)
      throws Exception {
    String key = object.getKey();
    Answer answer = client.send("GET", key, "", new byte[0], Map.of());
    long begin = System.nanoTime();
    while (answer.status() == 503 && mayWait && System.nanoTime() - begin < DEADLINE_NANOS) {
      ServerProcess.pause(Duration.ofMillis(50));
      answer = client.send("GET", key, "", new byte[0], Map.of());
    }
    assertEquals(200, answer.status(), key + " " + when + ": " + answer);
    assertEquals(object.getValue(), Content.sha256(answer.body()), key);
  }

  private double value(String metric) {
    return Metrics.of(server).value(metric);
  }
}
