package dev.ashlar.blob.context;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** Spreads what repair reads evenly over time. Safe for many threads. */
public class ByteRateLimiter {
  /** Who has been idle may read so much at once. */
  private static final long SAVED_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final long bytesPerSecond;
  private final ReentrantLock lock = new ReentrantLock();
  private long freeAtNanos = System.nanoTime();

  /**
   * @param bytesPerSecond 0: as fast as it can
   */
  public ByteRateLimiter(long bytesPerSecond) {
    if (bytesPerSecond < 0) {
      throw new IllegalArgumentException(bytesPerSecond + " bytes per second");
    }
    this.bytesPerSecond = bytesPerSecond;
  }

  /** Waits until so much more may be read. */
  public void take(long bytes) throws InterruptedException {
    long wait = bytesPerSecond == 0 ? 0 : reserve(bytes);
    if (wait > 0) {
      TimeUnit.NANOSECONDS.sleep(wait);
    }
  }

  /** For how long what comes before it lasts. */
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
