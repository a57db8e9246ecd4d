package dev.ashlar.bench.process;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Samples in the order of time. */
public record UsageSeries(List<Usage> samples) {
  /** The usage at an instant, in a straight line between the samples around it. */
  public Usage at(Instant instant) {
    Usage before = samples.getFirst();
    for (Usage after : samples) {
      if (after.at().isAfter(instant)) {
        double whole = Duration.between(before.at(), after.at()).toNanos();
        double part = Duration.between(before.at(), instant).toNanos();
        double share = whole <= 0 ? 0 : Math.max(0, part / whole);
        return new Usage(
            instant,
            between(before.serverCpuMillis(), after.serverCpuMillis(), share),
            between(before.machineCpuMillis(), after.machineCpuMillis(), share),
            after.serverRssBytes());
      }
      before = after;
    }
    return before;
  }

  public Usage last() {
    return samples.getLast();
  }

  /** Those of a span; the next behind it where it is too short to have any. */
  public UsageSeries within(Instant from, Instant end) {
    List<Usage> within =
        samples.stream()
            .filter(each -> !each.at().isBefore(from) && !each.at().isAfter(end))
            .toList();
    return new UsageSeries(within.isEmpty() ? List.of(at(end)) : within);
  }

  public double rssBytesMax() {
    return samples.stream().mapToDouble(Usage::serverRssBytes).max().orElseThrow();
  }

  public double rssBytesMean() {
    return samples.stream().mapToDouble(Usage::serverRssBytes).average().orElseThrow();
  }

  private static double between(double from, double to, double share) {
    return from + (to - from) * share;
  }
}
