package dev.ashlar.storage.drive.segment;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;

/**
 * A log record without payload that states what happened to earlier records. It has to exist as
 * long as any of those records can be replayed; they all lie between the lowest and the highest
 * segment named here.
 */
public sealed interface MarkRecord {
  long lowestSegment();

  long highestSegment();

  int storedBytes();

  BlobId blob();

  record Tombstone(BlobId blob, long lowestSegment, long highestSegment) implements MarkRecord {
    @Override
    public int storedBytes() {
      return SegmentFormat.TOMBSTONE_BYTES;
    }
  }

  /**
   * The fold of an attempt: its pieces became part of the shard. The last fold mark of a shard is
   * needed as long as the shard exists, because it records the revision up to which everything is
   * folded.
   *
   * @param altered {@link Extent.Stamp#altered} of blocks in which the attempt only added bytes
   */
  record FoldMark(
      ShardId shard,
      AttemptId attempt,
      long revision,
      long altered,
      long lowestSegment,
      long highestSegment)
      implements MarkRecord {
    @Override
    public BlobId blob() {
      return shard.blob();
    }

    @Override
    public int storedBytes() {
      return SegmentFormat.FOLD_MARK_BYTES;
    }
  }

  /** The discard of an attempt's pieces of a blob. */
  record DiscardMark(BlobId blob, AttemptId attempt, long lowestSegment, long highestSegment)
      implements MarkRecord {
    @Override
    public int storedBytes() {
      return SegmentFormat.DISCARD_MARK_BYTES;
    }
  }
}
