package dev.ashlar.protocol.process;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * The time of day, but for jumps: where the machine's clock is set to another time, this one goes a
 * tenth faster or slower until both agree. So it never goes back, and what it says has gone by is
 * right to a tenth. For what waits, compares or forgets; what others have to agree with, as
 * signatures and certificates, takes the machine's clock. Safe for many threads.
 */
public final class SteadyClock extends Clock {
  /** By how much of the time that has gone by it comes closer to the machine's clock. */
  private static final int SHARE = 10;

  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

  private final Clock machine;
  private final LongSupplier nanoTime;
  private final ReentrantLock lock = new ReentrantLock();
  private long lastNanos;

  /** Since 1970: enough until 2262. */
  private long timeNanos;

  /**
   * @param machine with which it begins
   * @param nanoTime a clock that only goes forward
   */
  public SteadyClock(Clock machine, LongSupplier nanoTime) {
    this.machine = machine;
    this.nanoTime = nanoTime;
    lastNanos = nanoTime.getAsLong();
    timeNanos = machine.millis() * MILLI;
  }

  /** Of this machine. */
  public static SteadyClock ofSystem() {
    return new SteadyClock(Clock.systemUTC(), System::nanoTime);
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

  @Override
  public Instant instant() {
    return Instant.ofEpochMilli(millis());
  }

  @Override
  public ZoneId getZone() {
    return ZoneOffset.UTC;
  }

  /** Only UTC is of use here. */
  @Override
  public Clock withZone(ZoneId zone) {
    throw new UnsupportedOperationException("zone " + zone);
  }
}
