package dev.ashlar.protocol.memory;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A limit of the bytes that all requests of a server may hold together. A request that gets none is
 * refused instead of waiting, so memory and queues stay bounded.
 */
public final class ByteBudget {
  private final long limitBytes;
  private final AtomicLong reservedBytes = new AtomicLong();

  public ByteBudget(long limitBytes) {
    if (limitBytes <= 0) {
      throw new IllegalArgumentException("budget of " + limitBytes + " bytes");
    }
    this.limitBytes = limitBytes;
  }

  /** Takes all of it or nothing. */
  public boolean tryReserve(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("reservation of " + bytes + " bytes");
    }
    long before = reservedBytes.get();
    while (bytes <= limitBytes - before) {
      if (reservedBytes.compareAndSet(before, before + bytes)) {
        return true;
      }
      before = reservedBytes.get();
    }
    return false;
  }

  public void release(long bytes) {
    if (bytes < 0 || reservedBytes.addAndGet(-bytes) < 0) {
      throw new IllegalStateException("released more than was reserved");
    }
  }

  public long reservedBytes() {
    return reservedBytes.get();
  }

  public long limitBytes() {
    return limitBytes;
  }
}
