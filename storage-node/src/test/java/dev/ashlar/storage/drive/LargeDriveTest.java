package dev.ashlar.storage.drive;

import static dev.ashlar.storage.drive.SimulatedCore.noise;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.cache.ShardRange;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.RocksShardIndex;
import dev.ashlar.storage.drive.log.LogRequest;
import dev.ashlar.storage.drive.metrics.DriveMetrics;
import dev.ashlar.storage.io.IoMode;
import dev.ashlar.storage.io.SparseFiles;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * How many files a drive has open, and how much memory it takes, does not depend on how large it
 * is, or hardly. {@code -Dashlar.drive.segments=32768} makes it one of 2 TiB.
 */
@Tag("slow")
class LargeDriveTest {
  private static final int SEGMENTS = Integer.getInteger("ashlar.drive.segments", 2048);
  private static final DriveConfig.Limits LIMITS = DriveConfig.Limits.DEFAULT;
  private static final int PAYLOAD_BYTES = 3000;
  private static final int SAMPLES = 300;

  /** Beside the segments: one that is being made, and the drive's identity. */
  private static final int OTHERS_OPEN = 2;

  /** Of the whole process: the lock, those of the index beside its tables, and Java's own. */
  private static final int DESCRIPTORS = 64;

  /** Of heap, for each segment: names, counts, and the maps that hold them. */
  private static final long SEGMENT_HEAP_BYTES = 512;

  private static final long HEAP_BYTES = 4 << 20;

  private final SlabPool slabs = new SlabPool();
  private final DriveResources resources = TestDrives.resources(slabs);
  private final DriveMetrics meters = new DriveMetrics(new SimpleMeterRegistry(), "large");
  @TempDir Path root = Path.of("set by JUnit");
  private @Nullable SparseFiles files;

  @BeforeEach
  void makeFolder() throws IOException {
    files = new SparseFiles(Files.createDirectory(root.resolve("drive")), IoMode.BUFFERED);
  }

  @AfterEach
  void closeResources() {
    meters.close();
    resources.close();
    assertEquals(0, slabs.lentBytes(), "a slab was not given back");
  }

  /** An open drive, without threads: nothing is compacted. */
  private final class Drive implements AutoCloseable {
    private final DriveDirectory folder;
    private final RocksShardIndex index;
    private final DriveCore core;

    Drive(boolean isIndexLost) throws IOException {
      Path path = root.resolve("drive");
      DriveConfig config =
          new DriveConfig(path, TestDrives.CLUSTER, null, 0, IoMode.BUFFERED, LIMITS);
      SparseFiles opened = files().reopened();
      files = opened;
      folder = DriveDirectory.open(config, resources, real -> opened);
      if (isIndexLost) {
        folder.discardIndex();
      }
      index = folder.openIndex(failure -> {});
      core = folder.openCore(index, meters);
    }

    private void commit(LogRequest request) throws IOException {
      assertTrue(core.log().add(request));
      core.log().commit();
      assertEquals(List.of(), core.log().rejected());
      core.log().clear();
    }

    void put(int blob) throws IOException {
      commit(
          new LogRequest.Write(
              AbstractShardStoreContract.shardWrite(shard(blob), 0, noise(blob, PAYLOAD_BYTES)),
              new Answer<>()));
    }

    /** The log goes on in another segment. */
    void leaveSegment() throws IOException {
      long active = core.log().activeSegment();
      commit(new LogRequest.Move(active, List.of(), List.of(), new Answer<>()));
    }

    void checkReads(int blob) throws ShardException {
      byte[] found =
          AbstractShardStoreContract.bytesOf(
              core.reader()
                  .read(new ShardRange(shard(blob), ShardView.ORIGINAL, 0, PAYLOAD_BYTES)));
      assertArrayEquals(noise(blob, PAYLOAD_BYTES), found, () -> "blob " + blob);
    }

    @Override
    public void close() throws IOException {
      index.checkpoint();
      core.close();
      index.close();
      folder.close();
      assertEquals(0, files().open(), "files are left open");
    }
  }

  private static ShardId shard(int blob) {
    return new ShardId(new BlobId(1, blob), 0);
  }

  private SparseFiles files() {
    if (files == null) {
      throw new IllegalStateException("not made");
    }
    return files;
  }

  /** What a drive takes that is open, beside what the process took before. */
  private final class Footprint {
    private final long heapBefore = heapBytes();
    private final long descriptorsBefore = descriptors();
    private final long began = System.nanoTime();

    void check(String what) throws IOException {
      int openMost = files().openMost();
      long descriptors = descriptors() - descriptorsBefore;
      long heap = heapBytes() - heapBefore;
      String report =
          String.format(
              Locale.ROOT,
              "%s: %d segments, at most %d open at a time, %d descriptors, %d KiB of heap, %d ms",
              what,
              SEGMENTS,
              openMost,
              descriptors,
              heap >> 10,
              TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began));
      System.out.println(report);
      assertTrue(openMost <= resources.openSegments() + OTHERS_OPEN, () -> openMost + " open");
      int descriptorsMax = resources.openSegments() + resources.index().openTables() + DESCRIPTORS;
      assertTrue(descriptors <= descriptorsMax, () -> descriptors + " descriptors");
      long heapMax = HEAP_BYTES + SEGMENTS * SEGMENT_HEAP_BYTES;
      assertTrue(heap <= heapMax, () -> heap + " bytes of heap");
    }

    private static long descriptors() throws IOException {
      try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
        return all.count();
      }
    }

    private static long heapBytes() {
      System.gc();
      return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    Footprint() throws IOException {}
  }

  @Test
  void aDriveOfManySegmentsHasFewOfThemOpen() throws Exception {
    try (Drive drive = new Drive(false)) {
      for (int blob = 1; blob <= SEGMENTS; blob++) {
        drive.put(blob);
        if (blob < SEGMENTS) {
          drive.leaveSegment();
        }
      }
      assertEquals(SEGMENTS, drive.core.segments().count());
    }
    checkOpens("opened", false);
    checkOpens("opened without its index", true);
  }

  private void checkOpens(String what, boolean isIndexLost) throws Exception {
    Footprint footprint = new Footprint();
    try (Drive drive = new Drive(isIndexLost)) {
      assertEquals(1000, drive.core.drive().incarnation());
      assertEquals(SEGMENTS, drive.core.segments().count());
      footprint.check(what);
      for (int i = 0; i < SAMPLES; i++) {
        drive.checkReads(1 + (int) ((long) i * (SEGMENTS - 1) / (SAMPLES - 1)));
      }
      footprint.check("and read from");
      drive.put(SEGMENTS + 1);
      drive.checkReads(SEGMENTS + 1);
    }
  }
}
