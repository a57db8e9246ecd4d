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
 * Each shard is queued once. Undecided ones are verified again later, and are dropped first when
 * the queue is full. A shard that does not fit is not queued: the next read or scrub finds it
 * again. Safe for many threads.
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
   * @param range missing range of the shard, not empty
   * @param fault the drive's answer
   */
  public record Suspect(ShardId shard, ByteRange range, ShardFault fault) {}

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
      if (!waiting.containsKey(suspect.shard())) { // otherwise it was found again meanwhile
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

  /** Queues the undecided suspects again. */
  public void recall() {
    lock.lock();
    try {
      undecided.forEach(waiting::putIfAbsent);
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
