package dev.ashlar.storage.drive.cache;

import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.util.LinkedHashSet;
import org.jspecify.annotations.Nullable;

/** Places in shards that may consist of many pieces, up to a limit. */
public final class MergeCandidates {
  /** Extents are merged up to 256 KiB. */
  public static final int MERGED_BLOCKS_MAX = 64;

  /**
   * Blocks appended between two checks: the maximum merge size, so that an appended block is
   * rewritten once. With half of it, blocks would be rewritten 1.5 times, because the second check
   * rewrites what the first has merged.
   */
  private static final int BLOCKS_PER_LOOK = MERGED_BLOCKS_MAX;

  /** Average number of patches added to a place between two checks. */
  private static final int PATCHES_PER_LOOK = 32;

  /** One new piece in this many has its whole shard checked, which also covers lost checks. */
  private static final int PIECES_PER_WHOLE_LOOK = 1024;

  private static final int WAITING_MAX = 4096;

  /** Guarded by this. */
  private final LinkedHashSet<Candidate> waiting = new LinkedHashSet<>();

  /**
   * A place to check.
   *
   * @param block a block of the place, unless {@code isWhole}
   */
  public record Candidate(ShardId shard, int block, boolean isWhole) {}

  /**
   * Considers a new piece. Base extents are appended in order, so one check per number of blocks
   * covers them all. Patches come anywhere, so one of many is picked, determined by revision and
   * place alone.
   */
  public void put(ShardPiece piece) {
    Extent extent = piece.extent();
    int block = extent.firstBlock();
    long mixed = ((extent.stamp().revision() + 31L * block) * 0x9E3779B97F4A7C15L) >>> 32;
    boolean isBase = piece.role() instanceof ShardPiece.Base;
    if (mixed % PIECES_PER_WHOLE_LOOK == 0) {
      add(new Candidate(piece.shard(), 0, true));
    } else if (isBase
        ? block % BLOCKS_PER_LOOK + extent.crcs().length >= BLOCKS_PER_LOOK
        : mixed % PATCHES_PER_LOOK == 0) {
      add(new Candidate(piece.shard(), extent.endBlock() - 1, false));
    }
  }

  public synchronized void add(Candidate candidate) {
    if (waiting.size() < WAITING_MAX) {
      waiting.add(candidate);
    }
  }

  public synchronized @Nullable Candidate next() {
    return waiting.isEmpty() ? null : waiting.removeFirst();
  }
}
