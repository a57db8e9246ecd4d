package dev.ashlar.storage.drive.index;

/**
 * The fold state of a changed shard.
 *
 * @param revision last folded revision; 0: none
 * @param lowestSegment lowest segment that may hold dead records of the shard
 * @param highestSegment highest such segment; 0: none
 */
public record FoldState(long revision, long lowestSegment, long highestSegment) {
  static final FoldState NOTHING = new FoldState(0, Long.MAX_VALUE, 0);

  public FoldState upTo(long newRevision) {
    return new FoldState(Math.max(revision, newRevision), lowestSegment, highestSegment);
  }

  /** Adds a segment that holds a dead record or a mark of the shard. */
  public FoldState withTraceIn(long segment) {
    return new FoldState(
        revision, Math.min(lowestSegment, segment), Math.max(highestSegment, segment));
  }
}
