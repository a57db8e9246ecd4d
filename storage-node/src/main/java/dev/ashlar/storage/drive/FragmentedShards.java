package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.Fold;
import dev.ashlar.protocol.model.ShardId;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Shards that may have been cut into many pieces, as many as are worth remembering. */
final class FragmentedShards {
  /**
   * One fold of so many puts its shard in line: how many pieces a shard gains between two looks.
   */
  private static final int FOLDS_PER_LOOK = 32;

  private static final int WAITING_MAX = 4096;

  private final ReentrantLock lock = new ReentrantLock();
  private final Set<ShardId> waiting = new LinkedHashSet<>();

  /** Which ones it picks follows from the revisions alone. */
  void folded(List<Fold> folds) {
    for (Fold fold : folds) {
      long mixed = fold.revision() * 0x9E3779B97F4A7C15L;
      if (Long.remainderUnsigned(mixed >>> 32, FOLDS_PER_LOOK) == 0) {
        add(fold.shard());
      }
    }
  }

  void add(ShardId shard) {
    lock.lock();
    try {
      if (waiting.size() < WAITING_MAX) {
        waiting.add(shard);
      }
    } finally {
      lock.unlock();
    }
  }

  @Nullable ShardId next() {
    lock.lock();
    try {
      Iterator<ShardId> each = waiting.iterator();
      if (!each.hasNext()) {
        return null;
      }
      ShardId next = each.next();
      each.remove();
      return next;
    } finally {
      lock.unlock();
    }
  }
}
