package dev.ashlar.storage.drive.cache;

import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Places in shards that may lie in many pieces by now, as many as are worth remembering. */
public final class MergeCandidates {
  /** Extents are merged up to 256 KiB. */
  public static final int MERGED_BLOCKS_MAX = 64;

  /**
   * What is appended between two looks: as much as is merged at most, so that an appended block is
   * written once more. With a look at the half of it, it would be 1.5 times, as the second look
   * writes anew what the first has merged.
   */
  private static final int BLOCKS_PER_LOOK = MERGED_BLOCKS_MAX;

  /** How many patches a place gains between two looks, on average. */
  private static final int PATCHES_PER_LOOK = 32;

  /** One new piece of so many has all of its shard looked at, also where a look was lost. */
  private static final int PIECES_PER_WHOLE_LOOK = 1024;

  private static final int WAITING_MAX = 4096;

  private final ReentrantLock lock = new ReentrantLock();
  private final Set<Candidate> waiting = new LinkedHashSet<>();

  /**
   * Where to look.
   *
   * @param block around it, unless {@code isWhole}
   */
  public record Candidate(ShardId shard, int block, boolean isWhole) {}

  /**
   * Bases come one behind the other, so one look for so many blocks sees them all. Patches come
   * anywhere: one of so many is picked. Which ones follows from revision and place alone.
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

  public void add(Candidate candidate) {
    lock.lock();
    try {
      if (waiting.size() < WAITING_MAX) {
        waiting.add(candidate);
      }
    } finally {
      lock.unlock();
    }
  }

  public @Nullable Candidate next() {
    lock.lock();
    try {
      Iterator<Candidate> each = waiting.iterator();
      if (!each.hasNext()) {
        return null;
      }
      Candidate next = each.next();
      each.remove();
      return next;
    } finally {
      lock.unlock();
    }
  }
}
