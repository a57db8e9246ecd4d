package dev.ashlar.blob;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.model.ShardId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Shards of which a drive could not give what it should have, until somebody has looked again. Each
 * waits once; what does not fit is forgotten, because the next read or scrub meets it again. Safe
 * for many threads.
 */
public final class Suspects {
  /** That wait at most. */
  static final int WAITING_MAX = 4096;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition isMore = lock.newCondition();
  private final Map<ShardId, Suspect> waiting = new LinkedHashMap<>();

  /**
   * A shard that may be lost.
   *
   * @param shard under the name that its drive has it
   * @param range of the shard that was not there, not empty
   * @param fault what the drive said
   */
  public record Suspect(ShardId shard, ByteRange range, ShardFault fault) {}

  /**
   * Takes note of it.
   *
   * @return false if there is no room for it
   */
  public boolean add(Suspect suspect) {
    lock.lock();
    try {
      if (waiting.size() >= WAITING_MAX) {
        return waiting.containsKey(suspect.shard());
      }
      waiting.putIfAbsent(suspect.shard(), suspect);
      isMore.signal();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Takes out the one that has waited longest; null if there is none. */
  @Nullable Suspect poll() {
    lock.lock();
    try {
      Map.Entry<ShardId, Suspect> first = waiting.entrySet().stream().findFirst().orElse(null);
      return first == null ? null : waiting.remove(first.getKey());
    } finally {
      lock.unlock();
    }
  }

  /** How many wait. */
  int waiting() {
    lock.lock();
    try {
      return waiting.size();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until there is one. */
  void await() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (waiting.isEmpty()) {
        isMore.await();
      }
    } finally {
      lock.unlock();
    }
  }
}
