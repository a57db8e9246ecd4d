package dev.ashlar.bench.soak;

import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * One quantity in the last third of a run against the middle third; the first is for warming up.
 *
 * @param share by how much it grew, 0.02 for 2 %
 * @param limit up to which it counts as flat
 */
public record Growth(
    String name, String unit, double middle, double last, double share, double limit) {
  private static final double MEDIAN = 0.5;

  /** Of the heap: what a collection leaves, not the garbage between them. */
  private static final double FLOOR = 0;

  private static final int THIRD_SAMPLES_MIN = 3;

  static List<Growth> of(List<Sample> samples) {
    return List.of(
        of("resident", "MiB", samples, Sample::residentMebibytes, MEDIAN, 0.02),
        of("heap", "MiB", samples, Sample::heapMebibytes, FLOOR, 0.1),
        of("direct", "MiB", samples, Sample::directMebibytes, MEDIAN, 0.05),
        of("threads", "", samples, Sample::threads, MEDIAN, 0.05),
        of("file handles", "", samples, Sample::fileHandles, MEDIAN, 0.05));
  }

  static Growth of(
      String name,
      String unit,
      List<Sample> samples,
      ToDoubleFunction<Sample> figure,
      double quantile,
      double limit) {
    int third = samples.size() / 3;
    if (third < THIRD_SAMPLES_MIN) {
      return new Growth(name, unit, Double.NaN, Double.NaN, Double.NaN, limit);
    }
    double middle = quantile(samples.subList(third, 2 * third), figure, quantile);
    double last = quantile(samples.subList(2 * third, samples.size()), figure, quantile);
    return new Growth(name, unit, middle, last, last / middle - 1, limit);
  }

  private static double quantile(
      List<Sample> samples, ToDoubleFunction<Sample> figure, double quantile) {
    double[] sorted = samples.stream().mapToDouble(figure).sorted().toArray();
    return sorted[(int) (quantile * (sorted.length - 1))];
  }

  boolean isGrowing() {
    return share > limit;
  }

  String verdict() {
    if (Double.isNaN(share)) {
      return "not known";
    }
    return String.format(
        Locale.ROOT,
        "%.1f → %.1f %s (%+.1f %%, flat up to %.0f %%)%s",
        middle,
        last,
        unit,
        100 * share,
        100 * limit,
        isGrowing() ? ": GROWS" : "");
  }
}
