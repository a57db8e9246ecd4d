package dev.ashlar.storage.drive;

/**
 * What of a segment is still needed.
 *
 * @param liveBytes pieces that the index names, with their headers
 * @param marks written to it
 * @param wasMovedFrom whether it may hold copies of pieces that now lie elsewhere
 */
record SegmentUse(long liveBytes, int marks, boolean wasMovedFrom) {
  static final SegmentUse NONE = new SegmentUse(0, 0, false);

  SegmentUse with(SegmentUse change) {
    return new SegmentUse(
        liveBytes + change.liveBytes, marks + change.marks, wasMovedFrom || change.wasMovedFrom);
  }
}
