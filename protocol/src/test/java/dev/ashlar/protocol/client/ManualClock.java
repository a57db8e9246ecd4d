package dev.ashlar.protocol.client;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** Shows the time that a test sets. */
public final class ManualClock extends Clock {
  private volatile long nowMs;

  public ManualClock(long nowMs) {
    this.nowMs = nowMs;
  }

  public void setMs(long newNowMs) {
    nowMs = newNowMs;
  }

  public void advanceMs(long ms) {
    setMs(nowMs + ms);
  }

  @Override
  public ZoneId getZone() {
    return ZoneOffset.UTC;
  }

  @Override
  public Clock withZone(ZoneId zone) {
    return this;
  }

  @Override
  public Instant instant() {
    return Instant.ofEpochMilli(nowMs);
  }
}
