package dev.ashlar.storage.drive.segment;

/**
 * How much of a segment is still needed.
 *
 * @param liveBytes size of the pieces that the index maps, including their headers
 * @param marks number of marks in the segment
 * @param wasMovedFrom whether it may hold copies of pieces that were moved elsewhere
 */
public record SegmentUsage(long liveBytes, int marks, boolean wasMovedFrom) {
  public static final SegmentUsage NONE = new SegmentUsage(0, 0, false);

  public SegmentUsage with(SegmentUsage change) {
    return new SegmentUsage(
        liveBytes + change.liveBytes, marks + change.marks, wasMovedFrom || change.wasMovedFrom);
  }
}
