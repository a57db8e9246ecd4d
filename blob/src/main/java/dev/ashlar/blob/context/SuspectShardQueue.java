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
 * Shards that a read or scrub found damaged or missing, until a second look has verified the loss.
 * Each shard is queued once, with a range that contains all places where it was found so: one of
 * them alone may turn out to be intact, or not to be needed. Undecided ones are verified again
 * later, and are dropped first when the queue is full. A shard that does not fit is not queued: the
 * next read or scrub finds it again. Safe for many threads.
 */
public final class SuspectShardQueue {
  public static final int WAITING_MAX = 4096;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition isMore = lock.newCondition();
  private final SequencedMap<ShardId, Suspect> waiting = new LinkedHashMap<>();

  /** Verified without a result. */
  private final SequencedMap<ShardId, Suspect> undecided = new LinkedHashMap<>();

  private int taken;

  /**
   * A shard that may be lost.
   *
   * @param shard with the name under which its drive stores it
   * @param range of the shard that contains all that was found missing; not empty
   * @param fault the drive's first answer
   */
  public record Suspect(ShardId shard, ByteRange range, ShardFault fault) {
    Suspect plus(Suspect later) {
      return new Suspect(shard, range.hull(later.range), fault);
    }
  }

  /** Result of a verification. */
  public enum Fate {
    /** The loss is confirmed or refuted. */
    SETTLED,
    /** The drive or metadata cannot tell now. */
    POSTPONED,
    /** Metadata was not available. */
    NOT_LOOKED_AT
  }

  /**
   * Queues the suspect.
   *
   * @return false if the queue is full
   */
  public boolean add(Suspect suspect) {
    lock.lock();
    try {
      Suspect before = undecided.remove(suspect.shard());
      if (before != null) {
        queue(before);
      }
      boolean isNew = !waiting.containsKey(suspect.shard());
      if (isNew && count() >= WAITING_MAX && pollFirst(undecided) == null) {
        return false;
      }
      queue(suspect);
      isMore.signal();
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void queue(Suspect suspect) {
    waiting.merge(suspect.shard(), suspect, Suspect::plus);
  }

  /**
   * Removes the oldest suspect; null if there is none. It keeps its capacity until the caller
   * reports the result with {@link #giveBack}.
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

  /** Reports the result for a suspect that was taken. */
  public void giveBack(Suspect suspect, Fate fate) {
    lock.lock();
    try {
      taken--;
      boolean isFoundAgain = waiting.containsKey(suspect.shard());
      switch (isFoundAgain && fate == Fate.POSTPONED ? Fate.NOT_LOOKED_AT : fate) {
        case SETTLED -> {}
        case POSTPONED -> undecided.put(suspect.shard(), suspect);
        case NOT_LOOKED_AT -> queue(suspect);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Queues the undecided suspects again. */
  public void recall() {
    lock.lock();
    try {
      undecided.values().forEach(this::queue);
      undecided.clear();
    } finally {
      lock.unlock();
    }
  }

  /** Suspects without a result, including those that are being verified. */
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

  /** Waits until a suspect is queued, at most this long. */
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
