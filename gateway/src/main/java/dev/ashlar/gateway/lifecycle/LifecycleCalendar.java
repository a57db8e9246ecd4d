package dev.ashlar.gateway.lifecycle;

import java.time.Duration;

/**
 * Counts the days of rules. Some days after a time are over at the midnight, in UTC, that follows.
 *
 * @param dayMs length of a day in milliseconds; shorter than a real day in tests
 */
public record LifecycleCalendar(long dayMs) {
  public static final LifecycleCalendar REAL = new LifecycleCalendar(Duration.ofDays(1).toMillis());

  public LifecycleCalendar {
    if (dayMs <= 0) {
      throw new IllegalArgumentException("a day of " + dayMs + " ms");
    }
  }

  /** The first midnight that is not before the given time and so many days. */
  public long dueMs(long fromMs, int days) {
    return Math.ceilDiv(fromMs + days * dayMs, dayMs) * dayMs;
  }

  /** The number of the day of this time, since 1970. */
  public long day(long timeMs) {
    return Math.floorDiv(timeMs, dayMs);
  }
}
