package dev.ashlar.bench.load;

/**
 * When one loop's requests begin. Closed: as soon as a connection is free. Open: at fixed times,
 * whether a connection is free or not; what finds none begins late, and its latency counts from
 * when it was meant to begin.
 */
final class Pace {
  static final long OVER = Long.MAX_VALUE;

  private final long startNanos;
  private final long endNanos;
  private final long lastCallNanos;
  private final double intervalNanos;
  private long taken;

  private Pace(long startNanos, long endNanos, long lastCallNanos, double intervalNanos) {
    this.startNanos = startNanos;
    this.endNanos = endNanos;
    this.lastCallNanos = lastCallNanos;
    this.intervalNanos = intervalNanos;
  }

  static Pace closed(long startNanos, long endNanos) {
    return new Pace(startNanos, endNanos, endNanos, 0);
  }

  /** Until the work itself says that there is no more. */
  static Pace unlimited() {
    long now = System.nanoTime();
    return closed(now, now + Long.MAX_VALUE / 4);
  }

  /**
   * @param lastCallNanos requests meant to begin before the end, but still waiting then, are given
   *     up
   * @param intervalNanos from one request of this loop to its next
   */
  static Pace open(long startNanos, long endNanos, long lastCallNanos, double intervalNanos) {
    return new Pace(startNanos, endNanos, lastCallNanos, intervalNanos);
  }

  boolean isOpen() {
    return intervalNanos > 0;
  }

  /** Nanoseconds from now to the next request, negative for one that is late, or OVER. */
  long untilNext(long nowNanos) {
    if (!isOpen()) {
      return nowNanos - endNanos < 0 ? 0 : OVER;
    }
    return isPast(nowNanos) ? OVER : intended() - nowNanos;
  }

  /** Takes the next request; returns where its latency begins. */
  long take(long nowNanos) {
    long from = isOpen() ? intended() : nowNanos;
    taken++;
    return from;
  }

  /** Whether a request still waits that nobody will send: takes it, by the next call of take. */
  boolean hasGivenUp() {
    return isOpen() && intended() - endNanos < 0;
  }

  private boolean isPast(long nowNanos) {
    return intended() - endNanos >= 0 || nowNanos - lastCallNanos >= 0;
  }

  private long intended() {
    return startNanos + (long) (taken * intervalNanos);
  }
}
