package dev.ashlar.storage.drive.config;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.storage.io.IoMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of a drive.
 *
 * @param folder directory, created if absent and formatted if empty
 * @param cluster cluster of the drive; drives of other clusters are refused
 * @param drive expected drive; {@code null} accepts any and lets an empty directory choose
 * @param lastIncarnation latest known incarnation of the drive; an empty directory starts with a
 *     later one regardless of the clock; 0: none is known
 * @param ioMode how segments are read and written
 * @param limits sizes and limits
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
   * @param segmentBytes segment size, a power of two
   * @param capacityBytesMax limit for all segments; {@link Long#MAX_VALUE}: the file system
   * @param reserveBytes space kept free for deletes, moves and the index, in addition to two
   *     segments for this drive and two for each other drive of the file system
   * @param queuedWritesMax requests waiting for the log writer
   * @param queuedBytesMax payload bytes waiting for the log writer
   * @param queuedReadsMax reads waiting or running
   * @param batchBytesMax size of one write to the log
   * @param checkpointBytes between two checkpoints of the index, which limits the replay after a
   *     crash; see {@code SegmentLog.replayBytes}
   * @param compactionBytesPerSecond rate at which compaction moves live bytes
   * @param stallTimeout how long a commit, or all reads together, may make no progress before the
   *     drive hangs and refuses requests
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
        throw new IllegalArgumentException("queue limits are too small");
      }
      if (!stallTimeout.isPositive() || hangTimeout.compareTo(stallTimeout) < 0) {
        throw new IllegalArgumentException(
            "the hang timeout of " + hangTimeout + " is shorter than the stall timeout");
      }
      if (checkpointBytes < 1 || compactionBytesPerSecond < 1 || reserveBytes < 0) {
        throw new IllegalArgumentException("rates and checkpoint interval must be positive");
      }
    }

    /** Free space at which an index that ran out of space is reopened. */
    public long indexBytesMin() {
      return Math.min(reserveBytes, INDEX_BYTES_MIN);
    }

    /** Minimum capacity at which a drive accepts any data. */
    public long capacityBytesMin() {
      return (1L + SEGMENTS_LEFT_BY_NEW_DATA) * segmentBytes + reserveBytes;
    }

    public Limits withCapacity(long newCapacityBytesMax) {
      return with(newCapacityBytesMax, stallTimeout, hangTimeout);
    }

    public Limits withTimeouts(Duration newStallTimeout, Duration newHangTimeout) {
      return with(capacityBytesMax, newStallTimeout, newHangTimeout);
    }

    private Limits with(
        long newCapacityBytesMax, Duration newStallTimeout, Duration newHangTimeout) {
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
          newStallTimeout,
          newHangTimeout);
    }

    /** Longest payload that fits a batch together with its checksums. */
    public int payloadBytesMax() {
      return batchBytesMax - batchBytesMax / 512 - 2 * Profile.BLOCK_BYTES;
    }
  }
}
