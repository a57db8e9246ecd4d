package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.DriveFolders;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.Metrics;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import dev.ashlar.storage.drive.NewIncarnation;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * More drives than the profile has parity begin a new incarnation at once, with every byte on them
 * as it was: appended and patched objects stay readable, and can be changed again after repair.
 */
class NewIncarnationsIT {
  private static final List<Integer> LENGTHS =
      List.of(1, 4097, 16384, 40_000, 65536, 65537, 200_000, 700_001);

  private final long seed = Seeds.seed("NewIncarnationsIT");
  private final Random random = new Random(seed);
  private final Map<String, byte[]> objects = new TreeMap<>();
  private ServerProcess server;
  private String bucket;

  @BeforeEach
  void start() throws IOException {
    server = ServerProcess.start(ServerSpec.named("new-incarnations"));
    try (S3Client s3 = Clients.sync(server)) {
      bucket = Buckets.create(s3, "incarnations");
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

  @LongTest
  void ofThreeDrives() throws Exception {
    everythingStays(3);
  }

  @LongTest
  void ofAllDrives() throws Exception {
    everythingStays(6);
  }

  private void everythingStays(int drives) throws Exception {
    changeAll();
    beginIncarnations(drives);
    readAll("changed shortly before");
    awaitRepaired();
    readAll("repaired");
    changeAll();
    awaitFolded();
    beginIncarnations(drives);
    readAll("folded before");
    awaitRepaired();
    changeAll();
    beginIncarnations(drives);
    beginIncarnations(drives);
    readAll("twice");
    awaitRepaired();
    server.stop();
    List<Path> folders = shuffled();
    folders.subList(0, 2).forEach(DriveFolders::replaceByFile);
    server.start();
    readAll("without two drives");
  }

  /** Kills the server and starts it again, with so many drives in a new incarnation. */
  private void beginIncarnations(int drives) {
    server.kill();
    List<Path> chosen = shuffled().subList(0, drives);
    System.out.println("new incarnations: " + chosen);
    chosen.forEach(folder -> NewIncarnation.begin(folder.resolve("drive")));
    server.start();
  }

  private List<Path> shuffled() {
    List<Path> folders = new ArrayList<>(server.driveFolders());
    Collections.shuffle(folders, random);
    return folders;
  }

  private void awaitFolded() throws Exception {
    await("ashlar_blob_unfolded_changes");
  }

  private void awaitRepaired() throws Exception {
    awaitFolded();
    await("ashlar_repair_debt_blobs");
  }

  private void await(String metric) throws Exception {
    Await.until(metric + " is 0", () -> Metrics.of(server).value(metric) == 0);
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

  private void readAll(String when) throws IOException {
    for (Map.Entry<String, byte[]> object : objects.entrySet()) {
      try (ChangeClient client = new ChangeClient(server, bucket)) {
        assertArrayEquals(
            object.getValue(),
            client.get(object.getKey()),
            object.getKey() + " " + when + ", seed " + seed);
      }
    }
  }
}
