package dev.ashlar.blob.read;

import dev.ashlar.blob.context.DeadlineSweeper;
import dev.ashlar.blob.context.DriveLatency;
import dev.ashlar.blob.context.Hedging;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.layout.ByteRange;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A range of one shard on its way from a drive. Whoever asked gives it back with {@link #abandon},
 * whether it has arrived or not. Asked and waited for by one thread, answered by another.
 */
public final class ShardRead implements Completion<ShardData>, DeadlineSweeper.Wait {
  private static final Object ABANDONED = new Object();

  private final ByteRange range;
  private final Hedging hedging;
  private final DriveLatency drive;
  private final long askedNanos;
  // null while under way; then ShardData, ShardFault or ABANDONED
  private final AtomicReference<@Nullable Object> state = new AtomicReference<>();
  private volatile @Nullable Thread waiter;
  private volatile boolean isWokenLate;
  private volatile long wokenAfterNanos;
  private boolean isLate;

  /**
   * @param range of the shard, not empty
   * @param drive whose answer it will be
   */
  ShardRead(ByteRange range, Hedging hedging, DriveLatency drive) {
    this.range = range;
    this.hedging = hedging;
    this.drive = drive;
    this.askedNanos = hedging.nanoTime();
  }

  @Override
  public void succeeded(ShardData data) {
    // Also of an answer that nobody waits for any more: the drive is as slow as that.
    if (hedging.isOn()) {
      drive.record(hedging.nanoTime() - askedNanos);
    }
    arrived(data);
  }

  /** The bytes, wherever they come from. */
  void arrived(ShardData data) {
    if (!state.compareAndSet(null, data)) {
      data.release();
    }
    wake();
  }

  @Override
  public void failed(ShardException failure) {
    state.compareAndSet(null, failure.fault());
    wake();
  }

  boolean isDone() {
    return state.get() != null;
  }

  boolean hasArrived() {
    return state.get() instanceof ShardData;
  }

  /** Whether it has been under way for longer than its drive usually takes; stays so. */
  boolean isLate() {
    isLate |= hedging.isOn() && nanosToLate(hedging.nanoTime()) <= 0;
    return isLate;
  }

  boolean isOlderThan(long nanos) {
    return nanosTo(nanos, hedging.nanoTime()) <= 0;
  }

  /**
   * Waits until it is done, for at most so long after it was asked for.
   *
   * @param orLate not longer than until it is late
   */
  void await(long deadlineNanos, boolean orLate) throws InterruptedException {
    if (isDone()) {
      return;
    }
    isWokenLate = orLate && hedging.isOn();
    wokenAfterNanos = deadlineNanos;
    waiter = Thread.currentThread();
    int place = hedging.watch().add(this);
    try {
      while (!isDone() && !(isWokenLate && isLate())) {
        long left = nanosTo(deadlineNanos, hedging.nanoTime());
        if (left <= 0) {
          return;
        }
        hedging.park(place, left);
      }
    } finally {
      hedging.watch().remove(place);
      waiter = null;
    }
  }

  /**
   * Waits until one of them is done, or late, or so old.
   *
   * @param reads not done when last seen, not empty
   */
  static void awaitAny(List<ShardRead> reads, long deadlineNanos) throws InterruptedException {
    reads.forEach(read -> read.waiter = Thread.currentThread());
    try {
      while (reads.stream().noneMatch(ShardRead::isDone)) {
        long left = Long.MAX_VALUE;
        for (ShardRead read : reads) {
          left = Math.min(left, read.nanosToEvent(deadlineNanos));
        }
        if (left <= 0) {
          return;
        }
        reads.getFirst().hedging.park(DeadlineSweeper.NO_PLACE, left);
      }
    } finally {
      reads.forEach(read -> read.waiter = null);
    }
  }

  /** Until it is too old, or, if it is not late yet, late. */
  private long nanosToEvent(long deadlineNanos) {
    long now = hedging.nanoTime();
    long toDeadline = nanosTo(deadlineNanos, now);
    return isLate ? toDeadline : Math.min(toDeadline, nanosToLate(now));
  }

  private long nanosToLate(long nowNanos) {
    return nanosTo(drive.lateNanos(), nowNanos);
  }

  private long nanosTo(long ageNanos, long nowNanos) {
    return ageNanos - (nowNanos - askedNanos);
  }

  @Override
  public void wakeIfDue() {
    long now = hedging.nanoTime();
    if (nanosTo(wokenAfterNanos, now) <= 0 || (isWokenLate && nanosToLate(now) <= 0)) {
      wake();
    }
  }

  @Override
  public void wake() {
    LockSupport.unpark(waiter);
  }

  /** Why it failed; a drive that did not answer in time is unavailable. */
  ShardFault fault() {
    return state.get() instanceof ShardFault fault ? fault : ShardFault.UNAVAILABLE;
  }

  /** What was asked for. */
  public ByteRange range() {
    return range;
  }

  boolean covers(ByteRange wanted) {
    return range.offset() <= wanted.offset() && wanted.end() <= range.end();
  }

  /** What has arrived. */
  public ShardData data() {
    if (state.get() instanceof ShardData data) {
      return data;
    }
    throw new IllegalStateException("not arrived: " + range);
  }

  /** The bytes of this part of the shard. */
  public ByteBuffer bytes(ByteRange part) {
    if (!covers(part)) {
      throw new IllegalArgumentException(part + " of " + range);
    }
    ByteBuffer bytes = data().bytes();
    int from = bytes.position() + (int) (part.offset() - range.offset());
    return bytes.slice(from, (int) part.length());
  }

  /**
   * @param memory in which it is held as long as others, to whom it was handed, keep it
   */
  public void abandon(RequestMemory memory) {
    if (state.getAndSet(ABANDONED) instanceof ShardData data) {
      memory.holdUntilRecycled(data.slab());
      data.release();
    }
  }
}
