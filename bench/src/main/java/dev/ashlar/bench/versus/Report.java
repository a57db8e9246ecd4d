package dev.ashlar.bench.versus;

import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** The table: medians over the rounds, and ratios to the reference. */
final class Report {
  private final Contender reference;
  private final PrintStream out;

  Report(Contender reference, PrintStream out) {
    this.reference = reference;
    this.out = out;
  }

  void header() {
    String to = reference.title();
    out.printf(
        "| work | server | op/s | × %s | p50 ms | × | p99 ms | × | CPU ms/op | of %s"
            + " | machine ms/op | of %s | RSS MiB | failed |%n",
        to, to, to);
    out.println("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
  }

  /** The rows of one work; the reference may be absent. */
  void rows(Work work, Map<Contender, List<Measurement>> rounds) {
    @Nullable List<Measurement> references = rounds.get(reference);
    rounds.forEach(
        (contender, measured) ->
            out.printf(
                "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |%n",
                work.title(),
                contender.title(),
                figure(median(measured, Measurement::operationsPerSecond)),
                ratio(measured, references, Measurement::operationsPerSecond),
                figure(median(measured, Measurement::p50Millis)),
                ratio(measured, references, Measurement::p50Millis),
                figure(median(measured, Measurement::p99Millis)),
                ratio(measured, references, Measurement::p99Millis),
                figure(median(measured, Measurement::cpuMillis)),
                ratio(measured, references, Measurement::cpuMillis),
                figure(median(measured, Measurement::machineCpuMillis)),
                ratio(measured, references, Measurement::machineCpuMillis),
                figure(median(measured, Measurement::rssMebibytes)),
                figure(measured.stream().mapToDouble(Measurement::failures).sum())));
    out.flush();
  }

  static double median(List<Measurement> rounds, ToDoubleFunction<Measurement> figure) {
    double[] sorted = rounds.stream().mapToDouble(figure).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  private static String ratio(
      List<Measurement> measured,
      @Nullable List<Measurement> references,
      ToDoubleFunction<Measurement> figure) {
    return references == null || references == measured
        ? ""
        : "%.2f".formatted(median(measured, figure) / median(references, figure));
  }

  private static String figure(double value) {
    return String.format(Locale.ROOT, value >= 100 || value == 0 ? "%.0f" : "%.2f", value);
  }
}
