package dev.ashlar.protocol.process;

import java.time.Clock;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * The time of day without jumps: when the system clock is set, this clock runs a tenth faster or
 * slower until both agree. So it goes back only when it is told to, and the durations it measures
 * are right to a tenth. Use it to wait, compare and expire; use the system clock where others must
 * agree, as for signatures and certificates. Safe for many threads.
 */
public final class SteadyClock implements InstantSource {
  /** It approaches the system clock by this fraction of the time passed. */
  private static final int SHARE = 10;

  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

  private final InstantSource machine;
  private final LongSupplier nanoTime;
  private final ReentrantLock lock = new ReentrantLock();
  private long lastNanos;

  /** Since 1970; does not overflow before 2262. */
  private long timeNanos;

  /**
   * @param machine the system clock
   * @param nanoTime a monotonic clock
   */
  public SteadyClock(InstantSource machine, LongSupplier nanoTime) {
    this.machine = machine;
    this.nanoTime = nanoTime;
    lastNanos = nanoTime.getAsLong();
    timeNanos = machine.millis() * MILLI;
  }

  /** The clock of this machine. */
  public static Clock ofSystem() {
    return new SteadyClock(Clock.systemUTC(), System::nanoTime).withZone(ZoneOffset.UTC);
  }

  @Override
  public long millis() {
    lock.lock();
    try {
      long now = nanoTime.getAsLong();
      long elapsed = Math.max(0, now - lastNanos);
      lastNanos = now;
      long behind = machine.millis() * MILLI - (timeNanos + elapsed);
      timeNanos += elapsed + Math.clamp(behind, -elapsed / SHARE, elapsed / SHARE);
      return timeNanos / MILLI;
    } finally {
      lock.unlock();
    }
  }

  /** Shows this time from now on, and approaches the system clock from there. */
  public void set(long millis) {
    lock.lock();
    try {
      lastNanos = nanoTime.getAsLong();
      timeNanos = millis * MILLI;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Instant instant() {
    return Instant.ofEpochMilli(millis());
  }
}
