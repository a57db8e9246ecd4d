package dev.ashlar.bench.curves;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.bench.load.LoadResult;
import dev.ashlar.bench.result.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.ToDoubleFunction;

/** All that one phase measured, averaged over its passes. */
public record Curves(String machine, String phase, List<Point> points) {

  /**
   * One step on one profile.
   *
   * @param x what the sweep varies
   * @param seconds measured of each pass
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
      double cpuMillisPerOperation,
      double residentMebibytes,
      long operations,
      long failures) {

    static Point of(String profile, Sweep.Step step, List<LoadResult> passes) {
      return new Point(
          profile,
          step.sweep(),
          step.label(),
          step.x(),
          step.load().seconds(),
          spread(passes, pass -> pass.total().operationsPerSecond()),
          spread(passes, pass -> pass.total().mebibytesPerSecond()),
          spread(passes, pass -> pass.total().latency().mean()),
          spread(passes, pass -> pass.total().latency().p50()),
          spread(passes, pass -> pass.total().latency().p99()),
          spread(passes, pass -> used(pass).cpuMillisPerOperation()).mean(),
          spread(passes, pass -> used(pass).residentMebibytesMax()).mean(),
          passes.stream().mapToLong(pass -> pass.total().operations()).sum(),
          passes.stream().mapToLong(pass -> pass.total().failures()).sum());
    }

    private static LoadResult.Use used(LoadResult pass) {
      return Objects.requireNonNull(pass.server());
    }

    private static Spread spread(List<LoadResult> passes, ToDoubleFunction<LoadResult> figure) {
      return Spread.of(passes.stream().mapToDouble(figure).toArray());
    }
  }

  /** What {@link dev.ashlar.bench.Json} wrote; it holds more than the components. */
  static Curves parse(String json) throws JsonProcessingException {
    return new ObjectMapper()
        .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
        .readValue(json, Curves.class);
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
    List<Point> abnormal = new ArrayList<>();
    for (Point point : points) {
      if (point.operationsPerSecond().isAbnormal()) {
        abnormal.add(point);
      }
    }
    return abnormal;
  }
}
