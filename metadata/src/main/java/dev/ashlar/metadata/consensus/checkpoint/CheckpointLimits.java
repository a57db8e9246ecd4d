package dev.ashlar.metadata.consensus.checkpoint;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * How much log may follow a checkpoint before the next one is taken, how many entries before it are
 * kept, how often all files are verified, and how much space second copies may use.
 *
 * @param entriesKept the last entries of the log are kept for peers that are behind
 */
public record CheckpointLimits(
    long commandsMax, long bytesMax, int entriesKept, Duration verifyEvery, Room room) {
  private static final int ENTRIES_KEPT = 1000;
  private static final Duration FOUR_WEEKS = Duration.ofDays(28);

  public static final CheckpointLimits DEFAULT = new CheckpointLimits(10_000, 32 << 20);

  public CheckpointLimits(long commandsMax, long bytesMax) {
    this(commandsMax, bytesMax, ENTRIES_KEPT, FOUR_WEEKS, CheckpointLimits::besideReserve);
  }

  public CheckpointLimits withEntriesKept(int count) {
    return new CheckpointLimits(commandsMax, bytesMax, count, verifyEvery, room);
  }

  public CheckpointLimits withVerifyEvery(Duration period) {
    return new CheckpointLimits(commandsMax, bytesMax, entriesKept, period, room);
  }

  public CheckpointLimits withRoom(Room other) {
    return new CheckpointLimits(commandsMax, bytesMax, entriesKept, verifyEvery, other);
  }

  /** The space that second copies may use. */
  @FunctionalInterface
  public interface Room {
    /** The bytes still available on the drive of this path; negative: the copies use too much. */
    long bytes(Path path) throws IOException;
  }

  private static final long RESERVE_BYTES = 1 << 30;
  private static final int RESERVE_DIVISOR = 10;

  /**
   * A peer stops when its log or its tables cannot grow: 1 GiB, or 10 % if that is less, is
   * reserved for them.
   */
  private static long besideReserve(Path path) throws IOException {
    FileStore drive = Files.getFileStore(path);
    return drive.getUsableSpace()
        - Math.min(RESERVE_BYTES, drive.getTotalSpace() / RESERVE_DIVISOR);
  }
}
