package dev.ashlar.storage.drive.segment;

/**
 * A place between two batches of the log.
 *
 * @param sequence of the last batch before it; 0 before the first
 * @param segment where that batch lies; 0 before the first
 * @param offset in the segment, where that batch ends
 * @param isRebuild whether an index is being made anew from all segments and has come this far;
 *     segments before it may have been freed long ago, so that sequences have gaps
 */
public record LogPosition(long sequence, long segment, int offset, boolean isRebuild) {
  public static final LogPosition START = new LogPosition(0, 0, 0, true);

  public LogPosition(long sequence, long segment, int offset) {
    this(sequence, segment, offset, false);
  }

  public LogPosition duringRebuild() {
    return new LogPosition(sequence, segment, offset, true);
  }

  public LogPosition afterRebuild() {
    return new LogPosition(sequence, segment, offset, false);
  }
}
