package dev.ashlar.gateway.lifecycle;

/** When a rule acts. */
public sealed interface When {
  /**
   * The time from which on a version is due.
   *
   * @param fromMs when the version was written, or became noncurrent
   */
  long dueMs(long fromMs, LifecycleCalendar calendar);

  /** So many days after that, at the next midnight. */
  record Days(int days) implements When {
    public Days {
      if (days < 0) {
        throw new IllegalArgumentException("days " + days);
      }
    }

    @Override
    public long dueMs(long fromMs, LifecycleCalendar calendar) {
      return calendar.dueMs(fromMs, days);
    }
  }

  /** From a midnight on, also what is written later. */
  record Date(long timeMs) implements When {
    @Override
    public long dueMs(long fromMs, LifecycleCalendar calendar) {
      return timeMs;
    }
  }
}
