package dev.ashlar.blob.context;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Limit of the direct memory that all writes and reads of the engine hold together. Requests that
 * exceed it wait in first-come, first-served order for a bounded time. An eighth is reserved for
 * small requests, which have a queue of their own: slow large requests never block them.
 */
public final class MemoryBudget {
  static final long SMALL_BYTES_MAX = 256 << 10;

  private final long limitBytes;
  private final Duration waitMax;
  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<Waiter> smallLine = new ArrayDeque<>();
  private final ArrayDeque<Waiter> largeLine = new ArrayDeque<>();
  private long freeBytes;

  private static final class Waiter {
    final long bytes;
    final Condition served;
    boolean isServed;

    Waiter(long bytes, Condition served) {
      this.bytes = bytes;
      this.served = served;
    }
  }

  /**
   * @param waitMax how long a request may wait for memory
   */
  public MemoryBudget(long limitBytes, Duration waitMax) {
    if (limitBytes < 1) {
      throw new IllegalArgumentException("budget of " + limitBytes + " bytes");
    }
    this.limitBytes = limitBytes;
    this.waitMax = waitMax;
    freeBytes = limitBytes;
  }

  public long limitBytes() {
    return limitBytes;
  }

  public long reservedBytes() {
    lock.lock();
    try {
      return limitBytes - freeBytes;
    } finally {
      lock.unlock();
    }
  }

  /** Requests that wait for memory. */
  public int waiting() {
    lock.lock();
    try {
      return smallLine.size() + largeLine.size();
    } finally {
      lock.unlock();
    }
  }

  Duration waitMax() {
    return waitMax;
  }

  /** Reserves the bytes; waits in the queue until they are free. */
  public void reserve(long bytes) throws DataUnavailableException, InterruptedException {
    lock.lockInterruptibly();
    try {
      ArrayDeque<Waiter> line = bytes <= SMALL_BYTES_MAX ? smallLine : largeLine;
      if (line.isEmpty() && mayTake(bytes)) {
        freeBytes -= bytes;
        return;
      }
      Waiter me = new Waiter(bytes, lock.newCondition());
      line.add(me);
      try {
        awaitServed(me);
      } finally {
        if (!me.isServed) {
          line.remove(me);
          serve();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Reserves the bytes if at least half of the budget stays free. */
  boolean tryReserve(long bytes) {
    lock.lock();
    try {
      if (freeBytes - bytes < limitBytes / 2) {
        return false;
      }
      freeBytes -= bytes;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** The largest reservation that can ever succeed. */
  public long largestBytes() {
    return limitBytes - limitBytes / 8;
  }

  /** Returns bytes; a negative number reserves them unconditionally. */
  public void release(long bytes) {
    lock.lock();
    try {
      freeBytes += bytes;
      serve();
    } finally {
      lock.unlock();
    }
  }

  public static DataUnavailableException exhausted() {
    return new DataUnavailableException(
        Reason.OVERLOADED, "the memory budget for requests is exhausted");
  }

  private boolean mayTake(long bytes) {
    return freeBytes - bytes >= (bytes <= SMALL_BYTES_MAX ? 0 : limitBytes / 8);
  }

  private void awaitServed(Waiter me) throws DataUnavailableException, InterruptedException {
    long left = waitMax.toNanos();
    while (!me.isServed) {
      if (left <= 0) {
        throw exhausted();
      }
      try {
        left = me.served.awaitNanos(left);
      } catch (InterruptedException e) {
        if (me.isServed) {
          freeBytes += me.bytes;
          serve();
        }
        throw e;
      }
    }
  }

  private void serve() {
    serve(smallLine);
    serve(largeLine);
  }

  private void serve(ArrayDeque<Waiter> line) {
    for (Waiter first = line.peek(); first != null && mayTake(first.bytes); first = line.peek()) {
      line.remove();
      freeBytes -= first.bytes;
      first.isServed = true;
      first.served.signal();
    }
  }
}
