package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.DriveFolders;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.S3Client;

/** Appends and patches with drives gone or back from yesterday, with profile 4+2. */
class DegradedChangeIT {
  private static final List<Integer> LENGTHS =
      List.of(1, 4097, 16384, 40_000, 65536, 65537, 200_000, 700_001);

  private final long seed = Seeds.seed("DegradedChangeIT");
  private final SplittableRandom random = new SplittableRandom(seed);
  private final Map<String, byte[]> objects = new TreeMap<>();
  private ServerProcess server;
  private String bucket;

  @BeforeEach
  void start() throws IOException {
    server = ServerProcess.start(ServerSpec.named("degraded-change"));
    try (S3Client s3 = Clients.sync(server)) {
      bucket = Buckets.create(s3, "degraded");
    }
    try (ChangeClient client = new ChangeClient(server, bucket)) {
      for (int length : LENGTHS) {
        byte[] bytes = new Content(seed, length).bytes();
        assertEquals(200, client.put("k" + length, bytes).status());
        objects.put("k" + length, bytes);
      }
    }
  }

  @AfterEach
  void close() {
    server.close();
  }

  /** Also when the drive comes back as it was before the changes, and another one goes. */
  @Test
  void withOneDriveGoneEverythingGoesOn() throws IOException {
    changeAll();
    List<Path> drives = server.driveFolders();
    int gone = random.nextInt(drives.size());
    System.out.println("gone: " + drives.get(gone));
    restart(() -> DriveFolders.replaceByFile(drives.get(gone)));
    readAll();
    changeAll();
    readAll();
    restart(() -> DriveFolders.repair(drives.get(gone)));
    readAll();
    changeAll();
    int next = (gone + 1 + random.nextInt(drives.size() - 1)) % drives.size();
    restart(() -> DriveFolders.replaceByFile(drives.get(next)));
    // What changed while the first was away lacks two shards now: enough to read only.
    readAll();
  }

  @LongTest
  void withTwoDrivesGoneNothingChangesAndEverythingReads() throws IOException {
    changeAll();
    List<Path> drives = server.driveFolders();
    int first = random.nextInt(drives.size());
    int second = (first + 1 + random.nextInt(drives.size() - 1)) % drives.size();
    restart(
        () -> {
          DriveFolders.replaceByFile(drives.get(first));
          DriveFolders.replaceByFile(drives.get(second));
        });
    readAll();
    for (Map.Entry<String, byte[]> object : objects.entrySet()) {
      try (ChangeClient client = new ChangeClient(server, bucket)) {
        int size = object.getValue().length;
        assertEquals(503, client.append("POST", object.getKey(), size, new byte[70_000]).status());
      }
      try (ChangeClient client = new ChangeClient(server, bucket)) {
        assertEquals(503, client.patch(object.getKey(), 0, new byte[70_000]).status());
      }
    }
    readAll();
    restart(() -> DriveFolders.repair(drives.get(first)));
    readAll();
    changeAll();
    readAll();
  }

  private void restart(Runnable meanwhile) {
    server.stop();
    meanwhile.run();
    server.start();
  }

  private void changeAll() throws IOException {
    try (ChangeClient client = new ChangeClient(server, bucket)) {
      for (Map.Entry<String, byte[]> object : objects.entrySet()) {
        for (int i = 0; i < 3; i++) {
          byte[] before = object.getValue();
          boolean isAppend = i == 0;
          int offset = isAppend ? before.length : random.nextInt(before.length);
          int length = 1 + random.nextInt(random.nextBoolean() ? 6000 : 90_000);
          byte[] body = new Content(random.nextLong(), length).bytes();
          String key = object.getKey();
          Answer answer =
              isAppend ? client.append("POST", key, offset, body) : client.patch(key, offset, body);
          assertEquals(200, answer.status(), () -> key + " at " + offset + ": " + answer);
          byte[] after = Arrays.copyOf(before, Math.max(before.length, offset + length));
          System.arraycopy(body, 0, after, offset, length);
          object.setValue(after);
        }
      }
    }
  }

  private void readAll() throws IOException {
    try (ChangeClient client = new ChangeClient(server, bucket)) {
      for (Map.Entry<String, byte[]> object : objects.entrySet()) {
        assertArrayEquals(
            object.getValue(), client.get(object.getKey()), object.getKey() + ", seed " + seed);
      }
    }
  }
}
