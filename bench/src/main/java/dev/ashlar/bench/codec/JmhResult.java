package dev.ashlar.bench.codec;

import dev.ashlar.bench.Median;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the JMH benchmarks came to.
 *
 * @param rows in the order of the table
 */
record JmhResult(String machine, int passes, List<Row> rows) {
  private static final String FORMAT =
      "| %-34s | %-7s | %-5s | %8s | %4s | %3s | %12s | %10s | %5s | %7s | %5s |%n";

  /**
   * One benchmark with its parameters, over all passes.
   *
   * @param bytes per shard, or per message of a checksum
   * @param iterations measured
   * @param nanos per call, the median
   * @param deviationNanos the median distance from the median: neighbours on the machine do not
   *     blow it up
   * @param gigabytesPerSecond of input
   * @param percentOfC the speed in percent of the same work done in a loop in C; null where there
   *     is no such loop
   */
  record Row(
      String benchmark,
      String profile,
      String codec,
      int bytes,
      int iterations,
      double nanos,
      double deviationNanos,
      double gigabytesPerSecond,
      @Nullable Double percentOfC) {
    private static Row of(JmhRow row, List<Double> scores, @Nullable List<Double> inC) {
      double median = Median.of(scores);
      return new Row(
          row.name(),
          row.profile(),
          row.codec(),
          row.bytes(),
          scores.size(),
          median,
          Median.of(scores.stream().map(score -> Math.abs(score - median)).toList()),
          row.inputBytes() / median,
          inC == null ? null : 100 * Median.of(inC) / median);
    }

    private void print(PrintStream out) {
      out.printf(
          Locale.ROOT,
          FORMAT,
          benchmark,
          profile,
          codec,
          bytes,
          "avgt",
          iterations,
          "%.1f".formatted(nanos),
          "± %.1f".formatted(deviationNanos),
          "ns/op",
          "%.1f".formatted(gigabytesPerSecond),
          percentOfC == null ? "" : "%.0f %%".formatted(percentOfC));
    }
  }

  /**
   * @param nanos per call of each iteration, in the order of the table
   */
  static JmhResult of(String machine, int passes, Map<JmhRow, List<Double>> nanos) {
    return new JmhResult(
        machine,
        passes,
        nanos.entrySet().stream()
            .map(entry -> Row.of(entry.getKey(), entry.getValue(), nanos.get(entry.getKey().inC())))
            .toList());
  }

  void print(PrintStream out) {
    out.printf(
        FORMAT,
        "Benchmark",
        "profile",
        "codec",
        "bytes",
        "Mode",
        "Cnt",
        "Score",
        "Error",
        "Units",
        "GB/s",
        "of C");
    out.println("|---|---|---|--:|---|--:|--:|--:|---|--:|--:|");
    rows.forEach(row -> row.print(out));
  }
}
