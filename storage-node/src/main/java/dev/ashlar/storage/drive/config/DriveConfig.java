package dev.ashlar.storage.drive.config;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.storage.io.IoMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One drive.
 *
 * @param folder made when absent; formatted when empty
 * @param cluster whose drive it is; the drive of another is refused
 * @param drive which drive has to be here; {@code null} accepts any and lets an empty folder choose
 * @param lastIncarnation the greatest that is known of this drive: where its folder is empty, the
 *     next life is a later one, whatever the clock says; 0: none is known
 * @param ioMode how segments are read and written
 * @param limits sizes and bounds
 */
public record DriveConfig(
    Path folder,
    UUID cluster,
    @Nullable UUID drive,
    long lastIncarnation,
    IoMode ioMode,
    Limits limits) {

  public static DriveConfig of(Path folder, UUID cluster) {
    return new DriveConfig(folder, cluster, null, 0, IoMode.AUTO, Limits.DEFAULT);
  }

  public DriveConfig with(IoMode mode) {
    return new DriveConfig(folder, cluster, drive, lastIncarnation, mode, limits);
  }

  /**
   * @param segmentBytes a power of two
   * @param capacityBytesMax of segments; {@link Long#MAX_VALUE}: what the file system has
   * @param reserveBytes beside two segments, and two for each other drive of its file system, kept
   *     free for deletes, moves and the index
   * @param queuedWritesMax operations waiting for the writer
   * @param queuedBytesMax payload bytes waiting for the writer
   * @param queuedReadsMax reads waiting or running
   * @param batchBytesMax of one write to the drive
   * @param checkpointBytes written between two checkpoints of the index, and so replayed at most
   * @param compactionBytesPerSecond how fast live bytes are moved out of mostly-dead segments
   * @param stallTimeout how long a commit, or all reads together, may make no progress before the
   *     drive counts as hanging and refuses what comes
   * @param hangTimeout how long one commit or read may run before the drive counts as failed
   */
  public record Limits(
      int segmentBytes,
      long capacityBytesMax,
      long reserveBytes,
      int queuedWritesMax,
      long queuedBytesMax,
      int queuedReadsMax,
      int batchBytesMax,
      long checkpointBytes,
      long compactionBytesPerSecond,
      Duration stallTimeout,
      Duration hangTimeout) {
    public static final Limits DEFAULT =
        new Limits(
            64 << 20,
            Long.MAX_VALUE,
            64L << 20,
            4096,
            64L << 20,
            1024,
            SlabPool.MAX_SLAB_BYTES,
            128L << 20,
            32L << 20,
            Duration.ofSeconds(10),
            Duration.ofSeconds(30));

    /** Segments that new data leaves free for deletes and moves. */
    public static final int SEGMENTS_LEFT_BY_NEW_DATA = 2;

    private static final int BATCH_BYTES_MIN = 64 * 1024;
    private static final long INDEX_BYTES_MIN = 64 << 20;

    public Limits {
      if (Integer.bitCount(segmentBytes) != 1 || segmentBytes < batchBytesMax) {
        throw new IllegalArgumentException("segment of " + segmentBytes + " bytes");
      }
      if (batchBytesMax < BATCH_BYTES_MIN
          || batchBytesMax > SlabPool.MAX_SLAB_BYTES
          || batchBytesMax % Profile.BLOCK_BYTES != 0) {
        throw new IllegalArgumentException("batch of " + batchBytesMax + " bytes");
      }
      if (queuedWritesMax < 1 || queuedReadsMax < 1 || queuedBytesMax < batchBytesMax) {
        throw new IllegalArgumentException("queues too short");
      }
      if (!stallTimeout.isPositive() || hangTimeout.compareTo(stallTimeout) < 0) {
        throw new IllegalArgumentException(
            "a drive fails after " + hangTimeout + ", sooner than it hangs");
      }
      if (checkpointBytes < 1 || compactionBytesPerSecond < 1 || reserveBytes < 0) {
        throw new IllegalArgumentException("needs positive bounds");
      }
    }

    /** Room of the file system with which an index that had none is opened again. */
    public long indexBytesMin() {
      return Math.min(reserveBytes, INDEX_BYTES_MIN);
    }

    /** What a drive must have for its segments to take any data at all. */
    public long capacityBytesMin() {
      return (1L + SEGMENTS_LEFT_BY_NEW_DATA) * segmentBytes + reserveBytes;
    }

    public Limits withCapacity(long newCapacityBytesMax) {
      return new Limits(
          segmentBytes,
          newCapacityBytesMax,
          reserveBytes,
          queuedWritesMax,
          queuedBytesMax,
          queuedReadsMax,
          batchBytesMax,
          checkpointBytes,
          compactionBytesPerSecond,
          stallTimeout,
          hangTimeout);
    }

    public Limits withTimeouts(Duration newStallTimeout, Duration newHangTimeout) {
      return new Limits(
          segmentBytes,
          capacityBytesMax,
          reserveBytes,
          queuedWritesMax,
          queuedBytesMax,
          queuedReadsMax,
          batchBytesMax,
          checkpointBytes,
          compactionBytesPerSecond,
          newStallTimeout,
          newHangTimeout);
    }

    /** The longest payload that fits a batch with its checksums. */
    public int payloadBytesMax() {
      return batchBytesMax - batchBytesMax / 512 - 2 * Profile.BLOCK_BYTES;
    }
  }
}
