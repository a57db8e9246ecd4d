package dev.ashlar.metadata.consensus;

/** How much log may follow a checkpoint before the next one is taken. */
public record CheckpointLimits(long commandsMax, long bytesMax) {
  public static final CheckpointLimits DEFAULT = new CheckpointLimits(50_000, 32 << 20);
}
