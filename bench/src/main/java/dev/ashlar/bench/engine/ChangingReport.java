package dev.ashlar.bench.engine;

import dev.ashlar.protocol.model.Profile;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** The tables: medians over the rounds, and ratios of the first profile to the others. */
final class ChangingReport {
  private final List<Profile> profiles;
  private final PrintStream out;

  ChangingReport(List<Profile> profiles, PrintStream out) {
    this.profiles = profiles;
    this.out = out;
  }

  void header() {
    out.println(
        "| work | profile | op/s | "
            + profiles.getFirst()
            + " does"
            + " | p50 ms | p99 ms | CPU ms/op | drive reads/op | drive writes/op | conflicts |");
    out.println("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|");
  }

  /**
   * @param passes per profile
   */
  void rows(Work work, List<List<Pass>> passes) {
    double first = median(passes.getFirst(), Pass::operationsPerSecond);
    for (int index = 0; index < profiles.size(); index++) {
      List<Pass> measured = passes.get(index);
      double rate = median(measured, Pass::operationsPerSecond);
      out.printf(
          Locale.ROOT,
          "| %s | %s | %.0f | %s | %.2f | %.2f | %.3f | %.2f | %.2f | %.0f |%n",
          work.title(),
          profiles.get(index),
          rate,
          index == 0 ? "" : String.format(Locale.ROOT, "%.2f ×", first / rate),
          median(measured, Pass::p50Millis),
          median(measured, Pass::p99Millis),
          median(measured, Pass::cpuMillis),
          median(measured, Pass::driveReads),
          median(measured, Pass::driveWrites),
          measured.stream().mapToDouble(Pass::conflicts).sum());
    }
  }

  /**
   * @param before per profile, bytes on drives per byte of the objects
   * @param after the same behind all work
   */
  void space(List<Double> before, List<Double> after) {
    out.println();
    out.println("| profile | bytes on drives per byte | after all work |");
    out.println("|---|--:|--:|");
    for (int index = 0; index < profiles.size(); index++) {
      out.printf(
          Locale.ROOT,
          "| %s | %.3f | %.3f |%n",
          profiles.get(index),
          before.get(index),
          after.get(index));
    }
  }

  private static double median(List<Pass> passes, ToDoubleFunction<Pass> figure) {
    double[] sorted = passes.stream().mapToDouble(figure).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
