package dev.ashlar.blob.context;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.model.ShardId;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Shards of which a drive could not give what it should have, until somebody has looked again and
 * knows. Each waits once. Those of which a look could tell nothing are looked at again later, and
 * when there is no room, they make room: they were met before. What does not fit then is forgotten,
 * because the next read or scrub meets it again. Safe for many threads.
 */
public final class SuspectShardQueue {
  /** That are here at most. */
  public static final int WAITING_MAX = 4096;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition isMore = lock.newCondition();
  private final SequencedMap<ShardId, Suspect> waiting = new LinkedHashMap<>();

  /** Of which a look could tell nothing. */
  private final SequencedMap<ShardId, Suspect> undecided = new LinkedHashMap<>();

  private int taken;

  /**
   * A shard that may be lost.
   *
   * @param shard under the name that its drive has it
   * @param range of the shard that was not there, not empty
   * @param fault what the drive said
   */
  public record Suspect(ShardId shard, ByteRange range, ShardFault fault) {}

  /** What came of a look. */
  public enum Fate {
    /** It is known to be lost, or not to be. */
    SETTLED,
    /** Nobody can tell now. */
    POSTPONED,
    /** There was no metadata to look with. */
    NOT_LOOKED_AT
  }

  /**
   * Takes note of it.
   *
   * @return false if there is no room for it
   */
  public boolean add(Suspect suspect) {
    lock.lock();
    try {
      if (waiting.containsKey(suspect.shard())) {
        return true;
      }
      undecided.remove(suspect.shard());
      if (count() >= WAITING_MAX && pollFirst(undecided) == null) {
        return false;
      }
      waiting.put(suspect.shard(), suspect);
      isMore.signal();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes out the one that has waited longest; null if there is none. Who takes it says what came
   * of it, and until then it keeps its room.
   */
  public @Nullable Suspect take() {
    lock.lock();
    try {
      Suspect first = pollFirst(waiting);
      taken += first == null ? 0 : 1;
      return first;
    } finally {
      lock.unlock();
    }
  }

  private static @Nullable Suspect pollFirst(SequencedMap<ShardId, Suspect> from) {
    Map.Entry<ShardId, Suspect> first = from.pollFirstEntry();
    return first == null ? null : first.getValue();
  }

  /** Says what came of the look at one that was taken out. */
  public void giveBack(Suspect suspect, Fate fate) {
    lock.lock();
    try {
      taken--;
      if (!waiting.containsKey(suspect.shard())) { // else it was met again meanwhile
        switch (fate) {
          case SETTLED -> {}
          case POSTPONED -> undecided.put(suspect.shard(), suspect);
          case NOT_LOOKED_AT -> waiting.put(suspect.shard(), suspect);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Lets those wait again of which nobody could tell. */
  public void recall() {
    lock.lock();
    try {
      undecided.forEach(waiting::putIfAbsent);
      undecided.clear();
    } finally {
      lock.unlock();
    }
  }

  /** How many are here, those included that were taken out and of which nothing was said yet. */
  public int unsettled() {
    lock.lock();
    try {
      return count();
    } finally {
      lock.unlock();
    }
  }

  private int count() {
    return waiting.size() + undecided.size() + taken;
  }

  /** Waits until one is waiting, not longer than this. */
  public void await(Duration longest) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = longest.toNanos();
      while (waiting.isEmpty() && left > 0) {
        left = isMore.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }
}
