package dev.ashlar.metadata.consensus.checkpoint;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * How much log may follow a checkpoint before the next one is taken, how often all files are
 * verified, and what second copies may take of the drive.
 */
public record CheckpointLimits(long commandsMax, long bytesMax, Duration verifyEvery, Room room) {
  private static final Duration FOUR_WEEKS = Duration.ofDays(28);

  public static final CheckpointLimits DEFAULT = new CheckpointLimits(50_000, 32 << 20);

  public CheckpointLimits(long commandsMax, long bytesMax) {
    this(commandsMax, bytesMax, FOUR_WEEKS, CheckpointLimits::besideReserve);
  }

  public CheckpointLimits withVerifyEvery(Duration period) {
    return new CheckpointLimits(commandsMax, bytesMax, period, room);
  }

  public CheckpointLimits withRoom(Room other) {
    return new CheckpointLimits(commandsMax, bytesMax, verifyEvery, other);
  }

  /** What second copies may take. */
  @FunctionalInterface
  public interface Room {
    /** More bytes of the drive that this is on; less than 0: they have taken too many. */
    long bytes(Path path) throws IOException;
  }

  private static final long RESERVE_BYTES = 1 << 30;
  private static final int RESERVE_DIVISOR = 10;

  /** A peer stops when its log or its tables cannot grow: 1 GiB is theirs, or 10 % if less. */
  private static long besideReserve(Path path) throws IOException {
    FileStore drive = Files.getFileStore(path);
    return drive.getUsableSpace()
        - Math.min(RESERVE_BYTES, drive.getTotalSpace() / RESERVE_DIVISOR);
  }
}
