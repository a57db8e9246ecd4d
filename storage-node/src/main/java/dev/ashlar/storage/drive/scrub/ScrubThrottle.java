package dev.ashlar.storage.drive.scrub;

import dev.ashlar.storage.drive.index.ReadThrottle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Limits the rate of scrub reads and yields to client requests. Used by one thread; another may
 * stop it.
 */
final class ScrubThrottle implements ReadThrottle {
  /** Maximum delay of each read while client requests wait. */
  private static final long YIELD_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(50);

  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Unused time that may be caught up. */
  private static final long SAVED_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final LongSupplier bytesPerSecond;
  private final BooleanSupplier areClientsWaiting;
  private volatile boolean isEnding;
  private long freeAtNanos = System.nanoTime();

  /**
   * @param bytesPerSecond rate, evaluated for each read; 0: unlimited
   */
  ScrubThrottle(LongSupplier bytesPerSecond, BooleanSupplier areClientsWaiting) {
    this.bytesPerSecond = bytesPerSecond;
    this.areClientsWaiting = areClientsWaiting;
  }

  /** Stops the throttle; the caller has to wake the waiting thread. */
  void end() {
    isEnding = true;
  }

  @Override
  public boolean take(int bytes) {
    long rate = bytesPerSecond.getAsLong();
    long now = System.nanoTime();
    long wait = rate == 0 ? 0 : Math.max(freeAtNanos - now, -SAVED_NANOS);
    freeAtNanos = now + wait + (rate == 0 ? 0 : (long) (bytes * 1e9 / rate));
    await(now + wait);
    long yieldedUntil = System.nanoTime() + YIELD_NANOS_MAX;
    while (!isEnding && areClientsWaiting.getAsBoolean() && System.nanoTime() < yieldedUntil) {
      LockSupport.parkNanos(this, LOOK_NANOS);
    }
    return !isEnding;
  }

  private void await(long untilNanos) {
    for (long left = untilNanos - System.nanoTime();
        left > 0 && !isEnding;
        left = untilNanos - System.nanoTime()) {
      LockSupport.parkNanos(this, left);
    }
  }
}
