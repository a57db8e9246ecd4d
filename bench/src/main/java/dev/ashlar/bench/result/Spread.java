package dev.ashlar.bench.result;

import java.util.Arrays;
import java.util.Collection;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * A figure over several passes.
 *
 * @param deviation standard deviation as a share of the mean
 */
public record Spread(double mean, double deviation, double[] passes) {
  /** Passes that differ more than this were not of the same thing. */
  private static final double DEVIATION_MAX = 0.1;

  public static Spread of(double... passes) {
    double mean = Arrays.stream(passes).average().orElse(Double.NaN);
    double squares = Arrays.stream(passes).map(pass -> (pass - mean) * (pass - mean)).sum();
    double deviation =
        passes.length < 2 || mean == 0 ? 0 : Math.sqrt(squares / (passes.length - 1)) / mean;
    return new Spread(mean, deviation, passes);
  }

  /** The middle of some figures: one that is far off does not move it. */
  public static <T> double median(Collection<T> measured, ToDoubleFunction<T> figure) {
    double[] sorted = measured.stream().mapToDouble(figure).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  public static double median(Collection<Double> values) {
    return median(values, Double::doubleValue);
  }

  public boolean isAbnormal() {
    return deviation > DEVIATION_MAX;
  }

  /** For the person at the terminal. */
  public String text(String name) {
    String values =
        Arrays.stream(passes)
            .mapToObj(pass -> String.format(Locale.ROOT, pass < 10 ? "%.2f" : "%.0f", pass))
            .collect(Collectors.joining(", "));
    return String.format(
        Locale.ROOT,
        "%s by pass: %s (± %.0f %%%s)",
        name,
        values,
        100 * deviation,
        isAbnormal() ? ": ABNORMAL, measure again on a quieter machine" : "");
  }
}
