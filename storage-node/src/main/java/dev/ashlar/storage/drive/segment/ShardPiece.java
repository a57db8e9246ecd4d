package dev.ashlar.storage.drive.segment;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.ShardId;

/** Bytes of a shard that the log holds and the index names. */
public record ShardPiece(ShardId shard, Role role, Extent extent) {
  /** What the bytes are to their shard. */
  public sealed interface Role {
    /** Of the shard proper. Such extents do not overlap. */
    Base BASE = new Base();

    /** One block of the shard proper, in place of the same block of a base extent. */
    Patch PATCH = new Patch();
  }

  /** {@link Role#BASE}. */
  public record Base() implements Role {}

  /** {@link Role#PATCH}. */
  public record Patch() implements Role {}

  /**
   * Bytes that an attempt wrote and that are not folded.
   *
   * @param after the last change of the shard that they were made from; 0: none
   * @param replaces whether the shard had all of their blocks; otherwise it had none
   * @param alters whether bytes are changed that the shard had, in each of the blocks; otherwise
   *     they only add to it
   */
  public record Intent(AttemptId attempt, long after, boolean replaces, boolean alters)
      implements Role {}

  public static ShardPiece base(ShardId shard, Extent extent) {
    return new ShardPiece(shard, Role.BASE, extent);
  }

  public static ShardPiece patch(ShardId shard, Extent extent) {
    return new ShardPiece(shard, Role.PATCH, extent);
  }

  public ShardPiece movedTo(Extent place) {
    return new ShardPiece(shard, role, place);
  }

  /** What it takes in its segment, rounding of the batch not counted. */
  public int storedBytes() {
    return SegmentFormat.pieceHeaderBytes(role, extent.stamp(), extent.crcs().length)
        + extent.length();
  }
}
