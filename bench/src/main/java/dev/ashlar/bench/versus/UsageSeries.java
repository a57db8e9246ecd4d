package dev.ashlar.bench.versus;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Samples in the order of time. */
final class UsageSeries {
  private UsageSeries() {}

  /** The usage at an instant, in a straight line between the samples around it. */
  static Usage at(List<Usage> samples, Instant instant) {
    Usage before = samples.get(0);
    for (Usage after : samples) {
      if (after.at().isAfter(instant)) {
        double whole = Duration.between(before.at(), after.at()).toNanos();
        double part = Duration.between(before.at(), instant).toNanos();
        double share = whole <= 0 ? 0 : Math.max(0, part / whole);
        return new Usage(
            instant,
            between(before.serverCpuMillis(), after.serverCpuMillis(), share),
            between(before.otherCpuMillis(), after.otherCpuMillis(), share),
            after.serverRssBytes());
      }
      before = after;
    }
    return before;
  }

  private static double between(double from, double to, double share) {
    return from + (to - from) * share;
  }
}
