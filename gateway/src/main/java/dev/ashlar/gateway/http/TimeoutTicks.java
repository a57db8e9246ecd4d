package dev.ashlar.gateway.http;

import java.time.Duration;

/**
 * The timeouts as numbers of ticks. One timer per event loop ticks for all its connections, so that
 * ten thousand idle ones need no timers of their own.
 */
record TimeoutTicks(
    Duration period, int idle, int head, int stall, long stallBytesMin, int linger) {
  private static final Duration PERIOD_MAX = Duration.ofSeconds(1);
  private static final Duration PERIOD_MIN = Duration.ofMillis(5);
  private static final int TICKS_MIN = 4;

  static TimeoutTicks of(HttpConfig.Timeouts timeouts) {
    Duration shortest =
        min(min(timeouts.idle(), timeouts.head()), min(timeouts.stall(), timeouts.linger()));
    Duration period = max(PERIOD_MIN, min(PERIOD_MAX, shortest.dividedBy(TICKS_MIN)));
    return new TimeoutTicks(
        period,
        count(timeouts.idle(), period),
        count(timeouts.head(), period),
        count(timeouts.stall(), period),
        Math.max(1, timeouts.bytesPerSecondMin() * timeouts.stall().toMillis() / 1000),
        count(timeouts.linger(), period));
  }

  private static int count(Duration time, Duration period) {
    return (int) Math.max(1, time.dividedBy(period));
  }

  private static Duration min(Duration a, Duration b) {
    return a.compareTo(b) <= 0 ? a : b;
  }

  private static Duration max(Duration a, Duration b) {
    return a.compareTo(b) >= 0 ? a : b;
  }
}
