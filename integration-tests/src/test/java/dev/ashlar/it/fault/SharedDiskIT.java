package dev.ashlar.it.fault;

import static dev.ashlar.it.harness.S3Failures.assertFails;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import dev.ashlar.it.harness.SmallDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** All drives and the metadata are folders of one disk, and clients fill it. */
class SharedDiskIT {
  private static final String DISK = "2200m";
  private static final int DRIVES = 6;
  private static final int OBJECT_BYTES = 4 << 20;

  /** More than the disk has room for. */
  private static final int OBJECTS_MAX = 400;

  /** The end of a drive's last segment can take some more in smaller batches. */
  private static final int OBJECTS_AFTER_START_MAX = 10;

  /** Two segments for each of the other drives, of which each may have begun one meanwhile. */
  private static final long LEFT_BYTES_MIN = (DRIVES - 1) * (64L << 20);

  private final long seed = Seeds.seed("SharedDiskIT");

  /** SHA-256 by key. */
  private final Map<Integer, String> stored = new TreeMap<>();

  private int last;
  private ServerProcess server;
  private SmallDisk disk;
  private S3Client s3;
  private String bucket;

  @BeforeEach
  void start() {
    String refusal = SmallDisk.refusal();
    assumeTrue(refusal.isEmpty(), refusal);
    server = ServerProcess.start(ServerSpec.named("shared-disk"));
    server.stop();
    disk = SmallDisk.thatCanHang(server.root(), DISK); // over the folders of the first start
    server.start();
    s3 = Clients.sync(server);
    bucket = Buckets.create(s3, "shared");
  }

  @AfterEach
  void close() {
    if (server == null) {
      return;
    }
    if (s3 != null) {
      s3.close();
    }
    server.kill();
    if (disk != null) {
      disk.close();
    }
    server.close();
  }

  @LongTest
  void aFullDiskIsReadAndFreedByDeletes() throws Exception {
    fill(OBJECTS_MAX);
    assertLeavesRoom();
    readAll();

    server.stop();
    server.start();
    fill(OBJECTS_AFTER_START_MAX);
    assertLeavesRoom();
    readAll();
    Buckets.create(s3, "another"); // metadata has room

    int before = stored.size();
    for (int key = 1; key <= last; key++) {
      if (key % 3 != 0 && stored.remove(key) != null) {
        String name = name(key);
        s3.deleteObject(b -> b.bucket(bucket).key(name));
        assertFails(404, () -> s3.headObject(b -> b.bucket(bucket).key(name)));
      }
    }
    awaitRoom();
    int more = (before - stored.size()) / 2;
    for (int i = 0; i < more; i++) {
      awaitRoom();
    }
    readAll();
    assertFalse(server.log().contains("No space left"), server::log);
  }

  /** Until the drives are full. */
  private void fill(int objectsMax) {
    for (int i = 0; i < objectsMax; i++) {
      if (!put()) {
        return;
      }
    }
    throw new AssertionError("not full after " + objectsMax + " more objects");
  }

  /** Until one more object is stored: what was deleted is freed a minute later. */
  private void awaitRoom() {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(5);
    while (!put()) {
      assertTrue(System.nanoTime() < deadline, server::anyHealth);
      ServerProcess.pause(Duration.ofMillis(500));
    }
  }

  /** Stores another object; false if the drives are full. */
  private boolean put() {
    int key = ++last;
    byte[] bytes = new Content(seed + key, OBJECT_BYTES).bytes();
    try {
      s3.putObject(b -> b.bucket(bucket).key(name(key)), RequestBody.fromBytes(bytes));
      stored.put(key, Content.sha256(bytes));
      return true;
    } catch (S3Exception e) {
      assertEquals(503, e.statusCode(), e::toString);
      assertTrue(
          e.awsErrorDetails().errorMessage().startsWith("The drives are full."), e::toString);
      return false;
    }
  }

  private void assertLeavesRoom() throws IOException {
    long left = Files.getFileStore(server.root()).getUsableSpace();
    assertTrue(left >= LEFT_BYTES_MIN, () -> left + " bytes left");
  }

  private void readAll() {
    assertFalse(stored.isEmpty());
    stored.forEach(
        (key, digest) -> {
          byte[] read =
              s3.getObjectAsBytes(b -> b.bucket(bucket).key(name(key))).asByteArrayUnsafe();
          assertEquals(digest, Content.sha256(read), () -> name(key));
        });
  }

  private static String name(int key) {
    return "o/" + key;
  }
}
