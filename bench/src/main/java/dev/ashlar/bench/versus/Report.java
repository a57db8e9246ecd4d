package dev.ashlar.bench.versus;

import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The table in Markdown: medians over the passes, and ratios to the reference. */
final class Report {
  private final PrintStream out;

  Report(PrintStream out) {
    this.out = out;
  }

  void header(String reference) {
    out.printf(
        "| work | server | op/s | × %s | p50 ms | × | p99 ms | × | CPU ms/op | of %s"
            + " | machine ms/op | of %s | RSS MiB | failed |%n",
        reference, reference, reference);
    out.println("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
  }

  void row(VersusRow row) {
    out.printf(
        "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %d |%n",
        row.work(),
        row.server(),
        figure(row.operationsPerSecond()),
        ratio(row, VersusRow.Ratios::operationsPerSecond),
        figure(row.p50Millis()),
        ratio(row, VersusRow.Ratios::p50Millis),
        figure(row.p99Millis()),
        ratio(row, VersusRow.Ratios::p99Millis),
        figure(row.cpuMillis()),
        ratio(row, VersusRow.Ratios::cpuMillis),
        figure(row.machineCpuMillis()),
        ratio(row, VersusRow.Ratios::machineCpuMillis),
        figure(row.rssMebibytes()),
        row.failures());
    out.flush();
  }

  /** Names the rows whose passes lie apart. */
  void abnormal(List<VersusRow> rows) {
    List<VersusRow> abnormal = rows.stream().filter(row -> row.passes().isAbnormal()).toList();
    if (!abnormal.isEmpty()) {
      out.println();
      abnormal.forEach(
          row -> out.println(row.passes().text(row.work() + ", " + row.server() + ", op/s")));
    }
  }

  private static String ratio(VersusRow row, Function<VersusRow.Ratios, @Nullable Double> which) {
    Double ratio = row.ratios() == null ? null : which.apply(row.ratios());
    return ratio == null ? "" : String.format(Locale.ROOT, "%.2f", ratio);
  }

  private static String figure(@Nullable Double value) {
    return value == null
        ? "–"
        : String.format(Locale.ROOT, value >= 100 || value == 0 ? "%.0f" : "%.2f", value);
  }
}
