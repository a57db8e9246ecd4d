package dev.ashlar.storage.drive;

import static dev.ashlar.storage.drive.SimulatedCore.noise;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.io.IoMode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Damage of the last batch that was acknowledged, on a real folder, without the index. */
class LastBatchTest {
  private static final int BATCHES = 5;

  /** A patience, not a bound: what is waited for comes much sooner. */
  private static final int LOOKS = 3000;

  private final SlabPool slabs = new SlabPool();
  private final DriveResources resources = TestDrives.resources(slabs);
  @TempDir Path folder = Path.of("set by JUnit");

  @AfterEach
  void closeResources() {
    resources.close();
  }

  private DriveStore open(Path where) throws IOException {
    return DriveStore.open(TestDrives.config(where, IoMode.BUFFERED), resources);
  }

  @Test
  void afterACleanStopItsDamageIsKnownToBeDamage() throws Exception {
    DriveId before;
    try (DriveStore store = open(folder)) {
      before = store.drive();
      writeAll(store);
    }
    flipLast(folder);
    checkDamageIsKnown(folder, before);
  }

  @Test
  void afterAKillOfAnIdleDriveItsDamageIsKnownToBeDamage() throws Exception {
    Path copy = folder.resolve("copy");
    Path drive = folder.resolve("drive");
    DriveId before;
    try (DriveStore store = open(drive)) {
      before = store.drive();
      writeAll(store);
      int looks = 0;
      while (batchesOf(drive) <= BATCHES && looks++ < LOOKS) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
      }
      copy(drive, copy);
    }
    flipLast(copy);
    checkDamageIsKnown(copy, before);
  }

  private static void writeAll(DriveStore store) throws ShardException {
    for (int i = 1; i <= BATCHES; i++) {
      Answer<DriveId> answer = new Answer<>();
      store.write(AbstractShardStoreContract.shardWrite(shard(i), 0, noise(i, 1000)), answer);
      answer.await();
    }
  }

  private void checkDamageIsKnown(Path where, DriveId before) throws Exception {
    deleteIndex(where);
    try (DriveStore store = open(where)) {
      Answer<ShardData> last = new Answer<>();
      store.read(shard(BATCHES), ShardView.ORIGINAL, 0, 1, last);
      assertEquals(ShardFault.MISSING, last.awaitFault());
      for (int i = 1; i < BATCHES; i++) {
        Answer<ShardData> answer = new Answer<>();
        store.read(shard(i), ShardView.ORIGINAL, 0, 1000, answer);
        assertArrayEquals(noise(i, 1000), AbstractShardStoreContract.bytesOf(answer.await()));
      }
      assertTrue(
          store.drive().incarnation() > before.incarnation(),
          "acknowledged data is gone, and the drive does not say so");
    }
  }

  private static ShardId shard(int blob) {
    return new ShardId(new BlobId(1, blob), 0);
  }

  private static Path segment(Path drive) {
    return drive.resolve(Segment.fileName(1));
  }

  /** Batches here begin every 4 KiB. */
  private static int batchesOf(Path drive) throws IOException {
    byte[] bytes = Files.readAllBytes(segment(drive));
    int count = 0;
    while (ByteBuffer.wrap(bytes).getInt(count * SegmentFormat.BLOCK) == SegmentFormat.MAGIC) {
      count++;
    }
    return count;
  }

  /** A bit of the directory of the last batch that holds data. */
  private static void flipLast(Path drive) throws IOException {
    try (FileChannel file =
        FileChannel.open(segment(drive), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      long at = (BATCHES - 1L) * SegmentFormat.BLOCK + SegmentFormat.HEADER_BYTES + 9;
      file.read(one, at);
      one.put(0, (byte) (one.get(0) ^ 4)).clear();
      file.write(one, at);
    }
  }

  private static void deleteIndex(Path drive) throws IOException {
    Path index = drive.resolve("index");
    if (Files.exists(index)) {
      try (Stream<Path> files = Files.list(index)) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
    }
  }

  /** What a killed process leaves: all that it had written. */
  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Files.copy(file, to.resolve(file.getFileName()));
      }
    }
  }
}
