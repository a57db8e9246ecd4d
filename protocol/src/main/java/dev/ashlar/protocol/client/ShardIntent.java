package dev.ashlar.protocol.client;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A provisional change of a shard, invisible until metadata commits its attempt.
 *
 * <p>Bytes come with a CRC32C per piece. Pieces are cut where the shard's 4 KiB blocks are, so the
 * first and the last may be short: see {@link #pieces}.
 */
public sealed interface ShardIntent {
  Target target();

  /**
   * The shard to change, the attempt that changes it, and its state before.
   *
   * @param base the state that the change was computed from
   * @param baseLength length of the shard in that state; bytes beyond it count as zero, whatever
   *     the drive holds
   */
  record Target(ShardId shard, AttemptId attempt, ShardView base, long baseLength) {
    public Target {
      if (baseLength < 0) {
        throw new IllegalArgumentException("base length " + baseLength);
      }
    }
  }

  /**
   * New bytes for a range of the shard.
   *
   * @param offset where they begin: at or below the base length, or beyond it at the start of a 4
   *     KiB block if other intents of the attempt contain the bytes between
   * @param payload direct memory, position to limit, at least 1 byte; must not change until the
   *     intent is stored. The alignment rule of {@link ShardWrite#payload} applies
   * @param crcs of each piece
   */
  record Bytes(Target target, long offset, ByteBuffer payload, int[] crcs) implements ShardIntent {
    public Bytes {
      boolean leavesGap = offset > target.baseLength() && offset % Profile.BLOCK_BYTES != 0;
      if (offset < 0 || leavesGap) {
        throw new IllegalArgumentException(
            "bytes at " + offset + " of a shard of " + target.baseLength());
      }
      check(offset, payload, crcs);
    }

    public long end() {
      return offset + payload.remaining();
    }
  }

  /**
   * Changes of data shards, from which the drive of a parity shard computes its new bytes.
   *
   * @param deltas at least one; their ranges may overlap
   */
  record Deltas(Target target, Profile profile, List<Delta> deltas) implements ShardIntent {
    public Deltas {
      deltas = List.copyOf(deltas);
      int slot = target.shard().slot();
      if (slot < profile.dataShards() || slot >= profile.shards() || deltas.isEmpty()) {
        throw new IllegalArgumentException(deltas.size() + " deltas for slot " + slot);
      }
      for (Delta delta : deltas) {
        if (delta.dataShard() >= profile.dataShards()) {
          throw new IllegalArgumentException("data shard " + delta.dataShard() + " of " + profile);
        }
      }
    }

    /** The index of the parity shard, from 0. */
    public int parityRow() {
      return target.shard().slot() - profile.dataShards();
    }
  }

  /**
   * The change of a range of one data shard.
   *
   * @param bytes old ⊕ new; direct memory, position to limit, at least 1 byte; must not change
   *     until the intent is stored
   * @param crcs of each piece
   */
  record Delta(int dataShard, long offset, ByteBuffer bytes, int[] crcs) {
    public Delta {
      if (dataShard < 0 || offset < 0) {
        throw new IllegalArgumentException("data shard " + dataShard + " at " + offset);
      }
      check(offset, bytes, crcs);
    }

    public long end() {
      return offset + bytes.remaining();
    }
  }

  /** The number of 4 KiB blocks that a range touches, which is its number of checksums. */
  static int pieces(long offset, int length) {
    return (int) ((offset + length - 1) / Profile.BLOCK_BYTES - offset / Profile.BLOCK_BYTES) + 1;
  }

  private static void check(long offset, ByteBuffer bytes, int[] crcs) {
    if (!bytes.isDirect() || !bytes.hasRemaining()) {
      throw new IllegalArgumentException("needs bytes in direct memory: " + bytes);
    }
    if (crcs.length != pieces(offset, bytes.remaining())) {
      throw new IllegalArgumentException(
          crcs.length + " checksums for " + bytes.remaining() + " bytes at " + offset);
    }
  }
}
