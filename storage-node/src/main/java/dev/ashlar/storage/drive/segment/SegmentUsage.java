package dev.ashlar.storage.drive.segment;

/**
 * What of a segment is still needed.
 *
 * @param liveBytes pieces that the index names, with their headers
 * @param marks written to it
 * @param wasMovedFrom whether it may hold copies of pieces that now lie elsewhere
 */
public record SegmentUsage(long liveBytes, int marks, boolean wasMovedFrom) {
  public static final SegmentUsage NONE = new SegmentUsage(0, 0, false);

  public SegmentUsage with(SegmentUsage change) {
    return new SegmentUsage(
        liveBytes + change.liveBytes, marks + change.marks, wasMovedFrom || change.wasMovedFrom);
  }
}
