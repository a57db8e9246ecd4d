package dev.ashlar.bench.curves;

import dev.ashlar.bench.load.LoadResult;
import dev.ashlar.bench.result.Spread;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * All that was measured, averaged over its passes.
 *
 * @param server that runs already; absent when servers were started for this
 */
public record Curves(String machine, @Nullable String server, String phase, List<Point> points) {

  /**
   * One step on one profile.
   *
   * @param profile or storage class of a store that runs already
   * @param x what the sweep varies
   * @param seconds measured of each pass
   * @param cpuMillisPerOperation of the server; absent when its process is not known
   * @param residentMebibytes the same
   * @param failures of all passes
   */
  public record Point(
      String profile,
      Sweep sweep,
      String label,
      double x,
      double seconds,
      Spread operationsPerSecond,
      Spread mebibytesPerSecond,
      Spread meanMillis,
      Spread p50Millis,
      Spread p99Millis,
      @Nullable Double cpuMillisPerOperation,
      @Nullable Double residentMebibytes,
      long operations,
      long failures) {

    static Point of(String profile, Sweep.Step step, List<LoadResult> passes) {
      return new Point(
          profile,
          step.sweep(),
          step.label(),
          step.x(),
          step.load().seconds(),
          LoadResult.spread(passes, pass -> pass.total().operationsPerSecond()),
          LoadResult.spread(passes, pass -> pass.total().mebibytesPerSecond()),
          LoadResult.spread(passes, pass -> pass.total().latency().mean()),
          LoadResult.spread(passes, pass -> pass.total().latency().p50()),
          LoadResult.spread(passes, pass -> pass.total().latency().p99()),
          used(passes, LoadResult.Use::cpuMillisPerOperation),
          used(passes, LoadResult.Use::residentMebibytesMax),
          passes.stream().mapToLong(pass -> pass.total().operations()).sum(),
          passes.stream().mapToLong(pass -> pass.total().failures()).sum());
    }

    private static @Nullable Double used(
        List<LoadResult> passes, ToDoubleFunction<LoadResult.Use> figure) {
      return passes.getFirst().server() == null
          ? null
          : LoadResult.spread(passes, pass -> figure.applyAsDouble(pass.used())).mean();
    }
  }

  /** In the order in which they were measured. */
  List<String> profiles() {
    return points.stream().map(Point::profile).distinct().toList();
  }

  List<Point> of(String profile, Sweep sweep) {
    return points.stream()
        .filter(point -> point.profile().equals(profile) && point.sweep() == sweep)
        .toList();
  }

  /** Of the steps of the sweep. */
  List<String> labels(Sweep sweep) {
    return points.stream()
        .filter(point -> point.sweep() == sweep)
        .sorted(Comparator.comparingDouble(Point::x))
        .map(Point::label)
        .distinct()
        .toList();
  }

  /** How the steps of the sweep were measured. */
  String how(Sweep sweep) {
    return points.stream()
        .filter(point -> point.sweep() == sweep)
        .findFirst()
        .map(
            point ->
                String.format(
                    Locale.ROOT,
                    "Means of %d passes of %s s each, the profiles in turn.",
                    point.operationsPerSecond().passes().length,
                    point.seconds()))
        .orElse("");
  }

  /** Steps whose passes differ too much to be believed. */
  List<Point> abnormal() {
    return points.stream().filter(point -> point.operationsPerSecond().isAbnormal()).toList();
  }
}
