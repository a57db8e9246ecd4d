package dev.ashlar.blob.context;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.protocol.memory.Slab;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The memory that one request has reserved in the {@link MemoryBudget}, and how much of it is in
 * use. A slab counts as used until it is back in its pool, even if a late drive or a connection
 * holds it.
 *
 * <p>Only the first reservation waits in the queue. Afterwards a request can always continue once
 * its own memory is returned, so requests never deadlock.
 */
public final class RequestMemory implements AutoCloseable {
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final MemoryBudget budget;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition givenBack = lock.newCondition();
  private long grantedBytes;
  private long heldBytes;
  private boolean isRoomy;
  private boolean isClosed;

  public RequestMemory(MemoryBudget budget) {
    this.budget = budget;
  }

  public boolean isOpen() {
    lock.lock();
    try {
      return grantedBytes > 0;
    } finally {
      lock.unlock();
    }
  }

  /** Whether memory was plentiful when the request began; otherwise it uses smaller steps. */
  public boolean isRoomy() {
    lock.lock();
    try {
      return isRoomy;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Makes the first reservation: the wanted bytes if memory is plentiful, otherwise the least,
   * waiting for them.
   */
  public void open(long wantedBytes, long leastBytes)
      throws DataUnavailableException, InterruptedException {
    boolean isWanted = budget.tryReserve(wantedBytes);
    long bytes = isWanted ? wantedBytes : leastBytes;
    if (!isWanted) {
      budget.reserve(bytes);
    }
    lock.lock();
    try {
      grantedBytes += bytes;
      isRoomy = isWanted;
    } finally {
      lock.unlock();
    }
  }

  /** Uses more bytes if they are reserved already, or the budget grants them at once. */
  public boolean tryHold(long bytes) {
    lock.lock();
    try {
      long missing = heldBytes + bytes - grantedBytes;
      if (missing > 0) {
        if (!budget.tryReserve(missing)) {
          return false;
        }
        grantedBytes += missing;
      }
      heldBytes += bytes;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Uses more bytes; waits until enough of its own are returned. */
  public void hold(long bytes) throws DataUnavailableException, InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = budget.waitMax().toNanos();
      while (!tryHold(bytes)) {
        if (left <= 0) {
          throw MemoryBudget.exhausted();
        }
        // In slices, because memory returned by other requests does not signal this one.
        left -= POLL_NANOS - Math.max(0, givenBack.awaitNanos(POLL_NANOS));
      }
    } finally {
      lock.unlock();
    }
  }

  /** Counts the slab as used until it is back in its pool. */
  public void holdUntilRecycled(Slab slab) {
    lock.lock();
    try {
      heldBytes += slab.capacity();
    } finally {
      lock.unlock();
    }
    slab.whenRecycled(this::giveBack);
  }

  public void giveBack(long bytes) {
    lock.lock();
    try {
      heldBytes -= bytes;
      if (isClosed) {
        budget.release(bytes);
      } else {
        givenBack.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Ends the request; bytes still in use return to the budget later. */
  @Override
  public void close() {
    lock.lock();
    try {
      if (!isClosed) {
        isClosed = true;
        budget.release(grantedBytes - heldBytes);
      }
    } finally {
      lock.unlock();
    }
  }
}
