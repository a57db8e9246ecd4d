package dev.ashlar.storage.drive.segment;

/**
 * A position between two batches of the log.
 *
 * @param sequence sequence of the batch before it; 0: none
 * @param segment segment of that batch; 0: none
 * @param offset end of that batch in the segment
 * @param isRebuild whether an index rebuild has come this far. Earlier segments may have been
 *     freed, so sequences may have gaps
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
