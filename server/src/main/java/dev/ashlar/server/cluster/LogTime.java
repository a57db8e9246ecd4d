package dev.ashlar.server.cluster;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;

/**
 * The time by which metadata dates what it writes, as far as this process knows: what it last saw,
 * and what has gone by since. Times of other processes' clocks never meet those of this one's
 * without it. Safe for many threads.
 */
public final class LogTime extends Clock {
  private final Clock own;
  private volatile long aheadMs;

  /**
   * @param own a clock without jumps
   */
  LogTime(Clock own) {
    this.own = own;
  }

  /** It is, or was just now, so late. */
  void seen(long logTimeMs) {
    aheadMs = logTimeMs - own.millis();
  }

  /** What was so late by this process's clock. */
  public long ofOwn(long ownMs) {
    return ownMs + aheadMs;
  }

  /** How late that is by this process's clock. */
  long toOwn(long logTimeMs) {
    return logTimeMs - aheadMs;
  }

  @Override
  public long millis() {
    return ofOwn(own.millis());
  }

  @Override
  public Instant instant() {
    return Instant.ofEpochMilli(millis());
  }

  @Override
  public ZoneId getZone() {
    return own.getZone();
  }

  @Override
  public Clock withZone(ZoneId zone) {
    throw new UnsupportedOperationException("zone " + zone);
  }
}
