package dev.ashlar.blob.context;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.protocol.memory.Slab;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One request's share of the {@link MemoryBudget} and what it holds of it. A slab is held until it
 * is back in its pool, whoever has it: a drive that is late, or a connection that sends it.
 *
 * <p>Only the first share is waited for in line. From then on a request that has it can always go
 * on once it gets its own memory back, so requests never wait for each other in a circle.
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

  /** Whether memory was plenty when the request came: else it goes on in smaller steps. */
  public boolean isRoomy() {
    lock.lock();
    try {
      return isRoomy;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes the first share: the wanted one while memory is plenty, else the least, which is waited
   * for.
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

  /** Holds so much more, if the share has it or the budget adds it at once. */
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

  /** Holds so much more; waits until enough is given back. */
  public void hold(long bytes) throws DataUnavailableException, InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = budget.waitMax().toNanos();
      while (!tryHold(bytes)) {
        if (left <= 0) {
          throw MemoryBudget.usedUp();
        }
        // In slices: what other requests give back to the budget does not signal here.
        left -= POLL_NANOS - Math.max(0, givenBack.awaitNanos(POLL_NANOS));
      }
    } finally {
      lock.unlock();
    }
  }

  /** From now on the slab is held, until it is back in its pool. */
  public void holdUntilRecycled(Slab slab) {
    lock.lock();
    try {
      heldBytes += slab.capacity();
    } finally {
      lock.unlock();
    }
    slab.whenRecycled(this::giveBack);
  }

  /** No longer holds so much. */
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

  /** The request has ended; what it still holds goes back when it is given back. */
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
