package dev.ashlar.bench;

import java.util.Collection;
import java.util.function.ToDoubleFunction;

/** The middle of some figures: one that is far off does not move it. */
public final class Median {
  private Median() {}

  public static <T> double of(Collection<T> measured, ToDoubleFunction<T> figure) {
    double[] sorted = measured.stream().mapToDouble(figure).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  public static double of(Collection<Double> values) {
    return of(values, Double::doubleValue);
  }
}
