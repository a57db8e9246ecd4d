package dev.ashlar.storage.drive.index;

/**
 * What is known of a shard that was changed.
 *
 * @param revision the last one that is folded; 0: none
 * @param lowestSegment the lowest that may hold dead records of the shard
 * @param highestSegment the highest such segment; 0: there is none
 */
public record FoldState(long revision, long lowestSegment, long highestSegment) {
  static final FoldState NOTHING = new FoldState(0, Long.MAX_VALUE, 0);

  public FoldState upTo(long newRevision) {
    return new FoldState(Math.max(revision, newRevision), lowestSegment, highestSegment);
  }

  /** A record in this segment has died, or a mark was written to it. */
  public FoldState withTraceIn(long segment) {
    return new FoldState(
        revision, Math.min(lowestSegment, segment), Math.max(highestSegment, segment));
  }
}
