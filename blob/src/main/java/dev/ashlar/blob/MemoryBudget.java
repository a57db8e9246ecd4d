package dev.ashlar.blob;

import dev.ashlar.blob.DataUnavailableException.Reason;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The direct memory that all writes and reads of the engine may hold together. When it is used up,
 * requests wait in line, first come, first served, for a bounded time.
 */
public final class MemoryBudget {
  private final long limitBytes;
  private final Duration waitMax;
  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<Waiter> line = new ArrayDeque<>();
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
   * @param waitMax how long a request may wait for its share
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

  Duration waitMax() {
    return waitMax;
  }

  /** Takes the bytes; waits for them in line. */
  void reserve(long bytes) throws DataUnavailableException, InterruptedException {
    lock.lockInterruptibly();
    try {
      if (takeNow(bytes)) {
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

  /** Takes the bytes if they are free and nobody waits. */
  boolean tryReserve(long bytes) {
    lock.lock();
    try {
      return takeNow(bytes);
    } finally {
      lock.unlock();
    }
  }

  /** Gives bytes back; less than none takes them, whether they are free or not. */
  void release(long bytes) {
    lock.lock();
    try {
      freeBytes += bytes;
      serve();
    } finally {
      lock.unlock();
    }
  }

  static DataUnavailableException usedUp() {
    return new DataUnavailableException(Reason.OVERLOADED, "the memory for data is used up");
  }

  private boolean takeNow(long bytes) {
    if (!line.isEmpty() || freeBytes < bytes) {
      return false;
    }
    freeBytes -= bytes;
    return true;
  }

  private void awaitServed(Waiter me) throws DataUnavailableException, InterruptedException {
    long left = waitMax.toNanos();
    while (!me.isServed) {
      if (left <= 0) {
        throw usedUp();
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
    for (Waiter first = line.peek();
        first != null && freeBytes >= first.bytes;
        first = line.peek()) {
      line.remove();
      freeBytes -= first.bytes;
      first.isServed = true;
      first.served.signal();
    }
  }
}
