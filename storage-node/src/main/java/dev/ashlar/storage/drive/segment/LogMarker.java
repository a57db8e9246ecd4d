package dev.ashlar.storage.drive.segment;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;

/**
 * A record without bytes that says what became of others. It has to outlive every record that it
 * speaks of and that a replay can meet: those all lie in the segments from the lowest to the
 * highest named here.
 */
public sealed interface LogMarker {
  long lowestSegment();

  long highestSegment();

  /** What it takes in its segment. */
  int storedBytes();

  BlobId blob();

  /** A blob's deletion. */
  record Tombstone(BlobId blob, long lowestSegment, long highestSegment) implements LogMarker {
    @Override
    public int storedBytes() {
      return SegmentFormat.TOMBSTONE_BYTES;
    }
  }

  /**
   * What an attempt wrote has become part of the shard. The last such mark of a shard is needed as
   * long as the shard is: it says up to which revision all is folded.
   *
   * @param altered the stamp of those blocks in which the attempt changed no bytes that were there
   */
  record FoldMarker(
      ShardId shard,
      AttemptId attempt,
      long revision,
      long altered,
      long lowestSegment,
      long highestSegment)
      implements LogMarker {
    @Override
    public BlobId blob() {
      return shard.blob();
    }

    @Override
    public int storedBytes() {
      return SegmentFormat.FOLDING_BYTES;
    }
  }

  /** What an attempt wrote for a blob is forgotten. */
  record DiscardMarker(BlobId blob, AttemptId attempt, long lowestSegment, long highestSegment)
      implements LogMarker {
    @Override
    public int storedBytes() {
      return SegmentFormat.DROPPING_BYTES;
    }
  }
}
