package dev.ashlar.storage.drive;

/**
 * What of a segment is still needed.
 *
 * @param liveBytes extents that the index names, with their headers
 * @param tombstones written to it
 * @param wasMovedFrom whether it may hold copies of extents that now lie elsewhere
 */
record SegmentUse(long liveBytes, int tombstones, boolean wasMovedFrom) {
  static final SegmentUse NONE = new SegmentUse(0, 0, false);
}
