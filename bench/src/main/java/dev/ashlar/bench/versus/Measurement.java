package dev.ashlar.bench.versus;

import dev.ashlar.bench.process.BenchException;
import dev.ashlar.bench.process.Usage;
import dev.ashlar.bench.process.UsageSeries;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * One run of one work on one server. CPU and memory are not numbers where they are not known.
 *
 * @param operationsPerSecond those that did not fail
 * @param cpuMillis of the server per operation, work it put off included
 * @param machineCpuMillis of the whole machine without the load generator, per operation
 */
record Measurement(
    double operationsPerSecond,
    double p50Millis,
    double p99Millis,
    double cpuMillis,
    double machineCpuMillis,
    double rssMebibytes,
    double failures) {
  private static final double MEBIBYTE = 1 << 20;

  /**
   * @param recorded every operation of warp's run, preparation included
   * @param usage from before the first operation until the server was idle again
   */
  static Measurement of(Work work, List<Operation> recorded, UsageSeries usage) {
    Instant from =
        recorded.stream()
            .filter(operation -> work.startsWith(operation.type()))
            .map(Operation::start)
            .min(Comparator.naturalOrder())
            .orElseThrow(() -> new BenchException("warp recorded no " + work.title()));
    List<Operation> all =
        recorded.stream()
            .filter(operation -> work.measures(operation.type()))
            .filter(operation -> !operation.start().isBefore(from))
            .toList();
    // A server that refuses is fast: only what it has done counts, in all of the time.
    List<Operation> measured = all.stream().filter(operation -> !operation.failed()).toList();
    int failures = all.size() - measured.size();
    if (measured.isEmpty()) {
      throw new BenchException("all of %,d requests failed".formatted(failures));
    }
    // While the last operations end, fewer and fewer run: the window closes when the last begins.
    Instant to = all.stream().map(Operation::start).max(Comparator.naturalOrder()).orElseThrow();
    if (!to.isAfter(from)) {
      throw new BenchException("warp recorded one %s only: measure longer".formatted(work.title()));
    }
    Instant end =
        measured.stream().map(Operation::end).max(Comparator.naturalOrder()).orElseThrow();
    double inWindow =
        measured.stream().mapToDouble(operation -> operation.shareWithin(from, to)).sum();
    Usage first = usage.at(from);
    Usage last = usage.at(to);
    Usage ended = usage.at(end);
    Usage idle = usage.last();
    double seconds = Duration.between(from, to).toNanos() / 1e9;
    double[] millis =
        measured.stream()
            .mapToDouble(operation -> operation.duration().toNanos() / 1e6)
            .sorted()
            .toArray();
    return new Measurement(
        inWindow / seconds,
        percentile(millis, 50),
        percentile(millis, 99),
        (last.serverCpuMillis() - first.serverCpuMillis()) / inWindow
            + (idle.serverCpuMillis() - ended.serverCpuMillis()) / measured.size(),
        (last.machineCpuMillis() - first.machineCpuMillis()) / inWindow,
        usage.rssBytesMax() / MEBIBYTE,
        failures);
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%.0f op/s, p50 %.2f ms, p99 %.2f ms, %.3f CPU ms/op, %.0f MiB, %.0f failed",
        operationsPerSecond,
        p50Millis,
        p99Millis,
        cpuMillis,
        rssMebibytes,
        failures);
  }

  private static double percentile(double[] sorted, int percent) {
    int rank = (int) Math.ceil(sorted.length * percent / 100.0);
    return sorted[Math.max(0, rank - 1)];
  }
}
