package dev.ashlar.storage.server;

import java.util.concurrent.atomic.AtomicLong;

/** Bytes of slabs that all connections together may hold. */
final class DataBudget {
  private final long bytesMax;
  private final AtomicLong bytes = new AtomicLong();

  DataBudget(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  boolean tryReserve(long wanted) {
    if (bytes.addAndGet(wanted) <= bytesMax) {
      return true;
    }
    bytes.addAndGet(-wanted);
    return false;
  }

  void release(long reserved) {
    bytes.addAndGet(-reserved);
  }

  long bytes() {
    return bytes.get();
  }
}
