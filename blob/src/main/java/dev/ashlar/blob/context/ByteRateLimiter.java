package dev.ashlar.blob.context;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** Spreads bytes evenly over time. Safe for many threads. */
public class ByteRateLimiter {
  /** Burst after an idle time. */
  private static final long SAVED_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final long bytesPerSecond;
  private final ReentrantLock lock = new ReentrantLock();
  private long freeAtNanos = System.nanoTime();

  /**
   * @param bytesPerSecond 0: unlimited
   */
  public ByteRateLimiter(long bytesPerSecond) {
    if (bytesPerSecond < 0) {
      throw new IllegalArgumentException(bytesPerSecond + " bytes per second");
    }
    this.bytesPerSecond = bytesPerSecond;
  }

  /** Waits until so many further bytes may be processed. */
  public void take(long bytes) throws InterruptedException {
    long wait = bytesPerSecond == 0 ? 0 : reserve(bytes);
    if (wait > 0) {
      TimeUnit.NANOSECONDS.sleep(wait);
    }
  }

  /** The wait until earlier bytes are through. */
  private long reserve(long bytes) {
    long lasts = (long) (bytes * 1e9 / bytesPerSecond);
    lock.lock();
    try {
      long now = System.nanoTime();
      long wait = Math.max(freeAtNanos - now, -SAVED_NANOS);
      freeAtNanos = now + wait + lasts;
      return wait;
    } finally {
      lock.unlock();
    }
  }
}
