package dev.ashlar.gateway.http;

import java.time.Duration;

/**
 * The timeouts in looks at a connection: one timer per event loop serves all its connections, and
 * ten thousand idle ones need no timer of their own.
 */
record TimeoutTicks(
    Duration period, int idle, int head, int stall, long stallBytesMin, int linger) {
  private static final Duration PERIOD_MAX = Duration.ofSeconds(1);
  private static final Duration PERIOD_MIN = Duration.ofMillis(5);
  private static final int LOOKS_MIN = 4;

  static TimeoutTicks of(HttpConfig.Timeouts timeouts) {
    Duration shortest =
        min(min(timeouts.idle(), timeouts.head()), min(timeouts.stall(), timeouts.linger()));
    Duration period = max(PERIOD_MIN, min(PERIOD_MAX, shortest.dividedBy(LOOKS_MIN)));
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
