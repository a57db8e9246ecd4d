package dev.ashlar.storage.drive.segment;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.ShardId;

/**
 * An extent of a shard together with its role. It is the unit that the log stores and the index
 * maps.
 */
public record ShardPiece(ShardId shard, Role role, Extent extent) {
  /** The role of the bytes in their shard. */
  public sealed interface Role {
    /** Bytes of the shard itself. Base extents do not overlap. */
    Base BASE = new Base();

    /** One block of the shard that replaces the same block of a base extent. */
    Patch PATCH = new Patch();
  }

  /** {@link Role#BASE}. */
  public record Base() implements Role {}

  /** {@link Role#PATCH}. */
  public record Patch() implements Role {}

  /**
   * Bytes written by an attempt and not folded yet.
   *
   * @param after last change of the shard that the bytes are based on; 0: none
   * @param replaces whether the shard had all of the blocks; otherwise it had none of them
   * @param alters whether each block changes existing bytes; otherwise bytes are only added
   */
  public record Intent(AttemptId attempt, long after, boolean replaces, boolean alters)
      implements Role {}

  public static ShardPiece base(ShardId shard, Extent extent) {
    return new ShardPiece(shard, Role.BASE, extent);
  }

  public static ShardPiece patch(ShardId shard, Extent extent) {
    return new ShardPiece(shard, Role.PATCH, extent);
  }

  /** The attempt that wrote an intent. */
  public AttemptId attempt() {
    return ((Intent) role).attempt();
  }

  public ShardPiece movedTo(Extent place) {
    return new ShardPiece(shard, role, place);
  }

  /** Bytes of its record. */
  public int headerBytes() {
    return SegmentFormat.pieceHeaderBytes(role, extent.stamp(), extent.crcs().length);
  }

  /** Bytes of its record and payload in the segment, without the rounding of the batch. */
  public int storedBytes() {
    return headerBytes() + extent.length();
  }
}
