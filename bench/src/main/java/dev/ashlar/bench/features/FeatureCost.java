package dev.ashlar.bench.features;

import dev.ashlar.bench.result.Spread;
import java.io.PrintStream;
import java.util.Collection;
import java.util.List;

/**
 * What a feature costs: medians of the passes.
 *
 * @param withoutMicros CPU of the server per operation
 * @param withMicros likewise
 * @param ratio of both, pass by pass
 * @param addedMicros the difference, pass by pass
 * @param limit as it is printed
 */
record FeatureCost(
    String feature,
    double withoutMicros,
    double withMicros,
    double ratio,
    double addedMicros,
    String limit,
    boolean isWithin) {

  /** One pass of both sides, in microseconds per operation. */
  record Pair(double without, double with) {
    double ratio() {
      return with / without;
    }

    double added() {
      return with - without;
    }
  }

  static FeatureCost of(String feature, Collection<Pair> passes, Comparison.Limit limit) {
    double ratio = Spread.median(passes, Pair::ratio);
    double added = Spread.median(passes, Pair::added);
    return new FeatureCost(
        feature,
        Spread.median(passes, Pair::without),
        Spread.median(passes, Pair::with),
        ratio,
        added,
        switch (limit) {
          case Comparison.Limit.Ratio most -> "%.1f x".formatted(most.times());
          case Comparison.Limit.Added most -> "+%.0f us".formatted(most.micros());
        },
        switch (limit) {
          case Comparison.Limit.Ratio most -> ratio <= most.times();
          case Comparison.Limit.Added most -> added <= most.micros();
        });
  }

  static void print(List<FeatureCost> costs, PrintStream out) {
    out.printf("CPU of the server per operation, medians of the passes%n%n");
    out.println("| feature | without, us | with, us | ratio | added, us | limit | within |");
    out.println("| --- | --: | --: | --: | --: | --: | --- |");
    for (FeatureCost cost : costs) {
      out.printf(
          "| %s | %.0f | %.0f | %.2f | %+.0f | %s | %s |%n",
          cost.feature,
          cost.withoutMicros,
          cost.withMicros,
          cost.ratio,
          cost.addedMicros,
          cost.limit,
          cost.isWithin ? "yes" : "NO");
    }
  }
}
