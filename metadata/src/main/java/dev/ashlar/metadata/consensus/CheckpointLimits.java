package dev.ashlar.metadata.consensus;

import java.time.Duration;

/**
 * How much log may follow a checkpoint before the next one is taken, and how often all files are
 * verified.
 */
public record CheckpointLimits(long commandsMax, long bytesMax, Duration verifyEvery) {
  private static final Duration FOUR_WEEKS = Duration.ofDays(28);

  public static final CheckpointLimits DEFAULT = new CheckpointLimits(50_000, 32 << 20);

  public CheckpointLimits(long commandsMax, long bytesMax) {
    this(commandsMax, bytesMax, FOUR_WEEKS);
  }

  public CheckpointLimits withVerifyEvery(Duration period) {
    return new CheckpointLimits(commandsMax, bytesMax, period);
  }
}
