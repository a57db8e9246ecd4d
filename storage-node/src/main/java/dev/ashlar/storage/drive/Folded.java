package dev.ashlar.storage.drive;

/**
 * What is known of a shard that was changed.
 *
 * @param revision the last one that is folded; 0: none
 * @param lowestSegment the lowest that may hold dead records of the shard
 * @param highestSegment the highest such segment; 0: there is none
 */
record Folded(long revision, long lowestSegment, long highestSegment) {
  static final Folded NOTHING = new Folded(0, Long.MAX_VALUE, 0);

  Folded upTo(long newRevision) {
    return new Folded(Math.max(revision, newRevision), lowestSegment, highestSegment);
  }

  /** A record in this segment has died, or a mark was written to it. */
  Folded withTraceIn(long segment) {
    return new Folded(
        revision, Math.min(lowestSegment, segment), Math.max(highestSegment, segment));
  }
}
