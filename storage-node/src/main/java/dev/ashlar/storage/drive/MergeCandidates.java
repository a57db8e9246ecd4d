package dev.ashlar.storage.drive;

import dev.ashlar.protocol.model.ShardId;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Places in shards that may lie in many pieces by now, as many as are worth remembering. */
final class MergeCandidates {
  /** One new piece of so many: how many a place gains between two looks, on average. */
  private static final int PIECES_PER_LOOK = 32;

  private static final int WAITING_MAX = 4096;

  private final ReentrantLock lock = new ReentrantLock();
  private final Set<Candidate> waiting = new LinkedHashSet<>();

  /** Around this block. */
  record Candidate(ShardId shard, int block) {}

  /** Which ones it picks follows from the revision and place of a piece alone. */
  void put(ShardId shard, Extent piece) {
    long mixed = (piece.stamp().revision() + 31L * piece.firstBlock()) * 0x9E3779B97F4A7C15L;
    if (Long.remainderUnsigned(mixed >>> 32, PIECES_PER_LOOK) == 0) {
      add(new Candidate(shard, piece.firstBlock()));
    }
  }

  void add(Candidate candidate) {
    lock.lock();
    try {
      if (waiting.size() < WAITING_MAX) {
        waiting.add(candidate);
      }
    } finally {
      lock.unlock();
    }
  }

  @Nullable Candidate next() {
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
