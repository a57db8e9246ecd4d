package dev.ashlar.bench.versus;

import dev.ashlar.bench.result.Spread;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * One work on one server: medians over the passes.
 *
 * @param passes their operations per second
 * @param cpuMillis of the server per operation; null where it is not known, as what follows
 * @param machineCpuMillis of the whole machine without the load generator, per operation
 * @param failures of all passes together
 * @param ratios to the reference; null for the reference itself and where it has no row
 */
record VersusRow(
    String work,
    String server,
    double operationsPerSecond,
    Spread passes,
    double p50Millis,
    double p99Millis,
    @Nullable Double cpuMillis,
    @Nullable Double machineCpuMillis,
    @Nullable Double rssMebibytes,
    long failures,
    @Nullable Ratios ratios) {

  /** This server's figure divided by the reference's. */
  record Ratios(
      double operationsPerSecond,
      double p50Millis,
      double p99Millis,
      @Nullable Double cpuMillis,
      @Nullable Double machineCpuMillis) {}

  static VersusRow of(
      Work work, String server, List<Measurement> passes, @Nullable VersusRow reference) {
    VersusRow row =
        new VersusRow(
            work.title(),
            server,
            Spread.median(passes, Measurement::operationsPerSecond),
            Spread.of(passes.stream().mapToDouble(Measurement::operationsPerSecond).toArray()),
            Spread.median(passes, Measurement::p50Millis),
            Spread.median(passes, Measurement::p99Millis),
            known(passes, Measurement::cpuMillis),
            known(passes, Measurement::machineCpuMillis),
            known(passes, Measurement::rssMebibytes),
            (long) passes.stream().mapToDouble(Measurement::failures).sum(),
            null);
    return reference == null ? row : row.beside(reference);
  }

  private static @Nullable Double known(
      List<Measurement> passes, ToDoubleFunction<Measurement> figure) {
    double median = Spread.median(passes, figure);
    return Double.isNaN(median) ? null : median;
  }

  private VersusRow beside(VersusRow reference) {
    return new VersusRow(
        work,
        server,
        operationsPerSecond,
        passes,
        p50Millis,
        p99Millis,
        cpuMillis,
        machineCpuMillis,
        rssMebibytes,
        failures,
        new Ratios(
            operationsPerSecond / reference.operationsPerSecond,
            p50Millis / reference.p50Millis,
            p99Millis / reference.p99Millis,
            ratio(cpuMillis, reference.cpuMillis),
            ratio(machineCpuMillis, reference.machineCpuMillis)));
  }

  private static @Nullable Double ratio(@Nullable Double figure, @Nullable Double reference) {
    return figure == null || reference == null ? null : (Double) (figure / reference);
  }

  static void printHeader(String reference, PrintStream out) {
    out.printf(
        "| work | server | op/s | × %s | p50 ms | × | p99 ms | × | CPU ms/op | of %s"
            + " | machine ms/op | of %s | RSS MiB | failed |%n",
        reference, reference, reference);
    out.println("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
  }

  void print(PrintStream out) {
    out.printf(
        "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %d |%n",
        work,
        server,
        figure(operationsPerSecond),
        ratio(Ratios::operationsPerSecond),
        figure(p50Millis),
        ratio(Ratios::p50Millis),
        figure(p99Millis),
        ratio(Ratios::p99Millis),
        figure(cpuMillis),
        ratio(Ratios::cpuMillis),
        figure(machineCpuMillis),
        ratio(Ratios::machineCpuMillis),
        figure(rssMebibytes),
        failures);
    out.flush();
  }

  /** Names the rows whose passes lie apart. */
  static void printAbnormal(List<VersusRow> rows, PrintStream out) {
    List<VersusRow> abnormal = rows.stream().filter(row -> row.passes().isAbnormal()).toList();
    if (!abnormal.isEmpty()) {
      out.println();
      abnormal.forEach(
          row -> out.println(row.passes().text(row.work() + ", " + row.server() + ", op/s")));
    }
  }

  private String ratio(Function<Ratios, @Nullable Double> which) {
    Double ratio = ratios == null ? null : which.apply(ratios);
    return ratio == null ? "" : String.format(Locale.ROOT, "%.2f", ratio);
  }

  private static String figure(@Nullable Double value) {
    return value == null
        ? "–"
        : String.format(Locale.ROOT, value >= 100 || value == 0 ? "%.0f" : "%.2f", value);
  }
}
