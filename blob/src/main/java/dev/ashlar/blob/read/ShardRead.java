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
 * A read of a range of one shard. The requesting thread releases it with {@link #abandon}, whether
 * it has arrived or not. Requested and awaited by one thread, answered by another.
 */
public final class ShardRead implements Completion<ShardData>, DeadlineSweeper.Wait {
  private static final Object ABANDONED = new Object();

  private final ByteRange range;
  private final Hedging hedging;
  private final DriveLatency drive;
  private final long askedNanos;
  // null while in flight; then ShardData, ShardFault or ABANDONED
  private final AtomicReference<@Nullable Object> state = new AtomicReference<>();
  private volatile @Nullable Thread waiter;
  private volatile boolean isWokenLate;
  private volatile long wokenAfterNanos;
  private boolean isLate;

  /**
   * @param range of the shard, not empty
   * @param drive latencies of the drive that is asked
   */
  ShardRead(ByteRange range, Hedging hedging, DriveLatency drive) {
    this.range = range;
    this.hedging = hedging;
    this.drive = drive;
    this.askedNanos = hedging.nanoTime();
  }

  @Override
  public void succeeded(ShardData data) {
    // Abandoned reads are recorded, too: they show how slow the drive is.
    if (hedging.isOn()) {
      drive.record(hedging.nanoTime() - askedNanos);
    }
    arrived(data);
  }

  /** Completes the read with these bytes. */
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

  enum Progress {
    IN_FLIGHT,
    ARRIVED,
    /** {@link #fault} says why. */
    FAILED
  }

  /**
   * What has become of the read.
   *
   * @param deadlineNanos a read that is older than this has failed
   */
  Progress progress(long deadlineNanos) {
    Object now = state.get(); // once: the read may arrive at any moment
    if (now instanceof ShardData) {
      return Progress.ARRIVED;
    }
    boolean isInTime = nanosTo(deadlineNanos, hedging.nanoTime()) > 0;
    return now == null && isInTime ? Progress.IN_FLIGHT : Progress.FAILED;
  }

  boolean isDone() {
    return state.get() != null;
  }

  boolean hasArrived() {
    return state.get() instanceof ShardData;
  }

  /** Whether the read takes or took longer than its drive usually does. */
  boolean isLate() {
    isLate |= hedging.isOn() && nanosToLate(hedging.nanoTime()) <= 0;
    return isLate;
  }

  /**
   * Waits until the read is done, at most until this long after the request.
   *
   * @param orLate only until it is late
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
   * Waits until one of the reads is done, becomes late, or reaches the deadline.
   *
   * @param reads unfinished when last checked, not empty
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

  /** Time until the read is late, if it is not yet, or reaches the deadline. */
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

  /** The fault; a drive that did not answer in time is unavailable. */
  ShardFault fault() {
    return state.get() instanceof ShardFault fault ? fault : ShardFault.UNAVAILABLE;
  }

  public ByteRange range() {
    return range;
  }

  boolean covers(ByteRange wanted) {
    return range.offset() <= wanted.offset() && wanted.end() <= range.end();
  }

  /** The data, which has arrived. */
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
   * @param memory in which the data counts as used while receivers keep it
   */
  public void abandon(RequestMemory memory) {
    if (state.getAndSet(ABANDONED) instanceof ShardData data) {
      memory.holdUntilRecycled(data.slab());
      data.release();
    }
  }
}
