package dev.ashlar.bench.curves;

import dev.ashlar.bench.chart.Figure;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * The charts of one phase, or of two: then the earlier one's lines are dashed and its bars pale,
 * and a profile has the same colour in both.
 */
final class CurvesCharts {
  private static final Figure.Axis OPERATIONS =
      new Figure.Axis("operations per second (op/s)", false);
  private static final Figure.Axis MEAN = new Figure.Axis("mean latency (ms)", true);
  private static final List<String> SEQUENTIAL_GROUPS = List.of("read", "write");
  private static final Figure.Limit TWO_MILLIS = new Figure.Limit("2 ms", 2);

  private final List<Curves> phases;
  private final List<String> profiles;

  /**
   * @param phases the earlier first
   */
  CurvesCharts(List<Curves> phases) {
    this.phases = phases;
    profiles = phases.stream().flatMap(phase -> phase.profiles().stream()).distinct().toList();
  }

  List<Figure> figures() {
    List<Figure> figures = new ArrayList<>();
    figures.add(response());
    figures.addAll(blocks(Sweep.BLOCK_READ, "Reads"));
    figures.addAll(blocks(Sweep.BLOCK_PATCH, "Overwrites"));
    figures.add(clients(Sweep.CLIENTS_READ, "Reads", "P50", CurvesCharts::p50));
    figures.add(clients(Sweep.CLIENTS_READ, "Reads", "P99", CurvesCharts::p99));
    figures.add(clients(Sweep.CLIENTS_PATCH, "Overwrites", "P50", CurvesCharts::p50));
    figures.add(clients(Sweep.CLIENTS_PATCH, "Overwrites", "P99", CurvesCharts::p99));
    figures.add(sequential());
    return figures;
  }

  /** Takes a figure for each profile of each phase. */
  private interface Each {
    void of(Curves phase, String profile, String name, int color, boolean isFaint);
  }

  private void each(Each each) {
    for (int number = 0; number < phases.size(); number++) {
      Curves phase = phases.get(number);
      boolean isFaint = number < phases.size() - 1;
      for (String profile : phase.profiles()) {
        String name = title(profile) + (phases.size() > 1 ? ", " + phaseName(number) : "");
        each.of(phase, profile, name, profiles.indexOf(profile), isFaint);
      }
    }
  }

  /** Two may be called the same, as by --against. */
  private String phaseName(int number) {
    String name = phases.get(number).phase();
    boolean isTaken =
        phases.subList(number + 1, phases.size()).stream()
            .anyMatch(later -> later.phase().equals(name));
    return isTaken ? name + " (earlier)" : name;
  }

  /** Of two phases that were measured otherwise, each. */
  private String how(Sweep sweep) {
    List<String> each = phases.stream().map(phase -> phase.how(sweep)).toList();
    if (each.stream().distinct().count() == 1) {
      return each.getFirst();
    }
    StringBuilder all = new StringBuilder();
    for (int number = 0; number < phases.size(); number++) {
      all.append(number == 0 ? "" : " ").append(phaseName(number)).append(": ");
      all.append(each.get(number));
    }
    return all.toString();
  }

  static String title(String profile) {
    return profile.replace(",optimizations=off", " classic");
  }

  private Figure response() {
    List<Figure.Line> lines = new ArrayList<>();
    List<ResponseCurve> curves = new ArrayList<>();
    each(
        (phase, profile, name, color, isFaint) -> {
          ResponseCurve curve = ResponseCurve.of(phase.of(profile, Sweep.RESPONSE));
          curves.add(curve);
          lines.add(
              new Figure.Line(name, rates(curve.places()), millis(curve.places()), color, isFaint));
        });
    List<ResponseCurve.Place> knees = curves.stream().map(ResponseCurve::knee).toList();
    List<ResponseCurve.Place> planned = curves.stream().map(ResponseCurve::planned).toList();
    return new Figure.Lines(
        "response",
        "Response: 70 % reads, 30 % overwrites of 16 KiB, random",
        "Each point has more requests on their way than the one before. The knee is where"
            + " throughput divided by latency is highest; to plan with, take 70 % of the highest"
            + " throughput. "
            + how(Sweep.RESPONSE),
        OPERATIONS,
        MEAN,
        true,
        lines,
        List.of(
            new Figure.Marks("knee", rates(knees), millis(knees)),
            new Figure.Marks("70 % planning point", rates(planned), millis(planned))),
        null);
  }

  /** All profiles in one chart; of two phases one chart for each profile, or it is too much. */
  private List<Figure> blocks(Sweep sweep, String what) {
    String title = what + " by block size, one at a time";
    List<String> groups = labels(sweep);
    if (phases.size() == 1) {
      List<Figure.Bar> bars = new ArrayList<>();
      each(
          (phase, profile, name, color, isFaint) ->
              bars.addAll(percentiles(phase.of(profile, sweep), groups, name, color)));
      return List.of(blocks(sweep, sweep.title(), title, groups, bars));
    }
    List<Figure> figures = new ArrayList<>();
    for (String profile : profiles) {
      List<Figure.Bar> bars = new ArrayList<>();
      for (int phase = 0; phase < phases.size(); phase++) {
        List<Curves.Point> points = phases.get(phase).of(profile, sweep);
        if (!points.isEmpty()) {
          bars.addAll(percentiles(points, groups, phaseName(phase), phase));
        }
      }
      String name = sweep.title() + "-" + (figures.size() + 1);
      figures.add(blocks(sweep, name, title + ": " + title(profile), groups, bars));
    }
    return figures;
  }

  private static List<Figure.Bar> percentiles(
      List<Curves.Point> points, List<String> groups, String name, int color) {
    return List.of(
        new Figure.Bar(name + ", P50", heights(points, groups, CurvesCharts::p50), color, false),
        new Figure.Bar(name + ", P99", heights(points, groups, CurvesCharts::p99), color, true));
  }

  private Figure blocks(
      Sweep sweep, String name, String title, List<String> groups, List<Figure.Bar> bars) {
    return new Figure.Bars(
        name,
        title,
        "Random blocks of objects of 4 MiB, one request on its way. " + how(sweep),
        "block size",
        groups,
        new Figure.Axis("latency (ms)", true),
        bars);
  }

  /** Of all steps that any profile of any phase has made. */
  private List<String> labels(Sweep sweep) {
    return phases.stream()
        .flatMap(phase -> phase.points().stream())
        .filter(point -> point.sweep() == sweep)
        .sorted(Comparator.comparingDouble(Curves.Point::x))
        .map(Curves.Point::label)
        .distinct()
        .toList();
  }

  private Figure clients(
      Sweep sweep, String what, String percentile, ToDoubleFunction<Curves.Point> figure) {
    List<Figure.Line> lines = new ArrayList<>();
    each(
        (phase, profile, name, color, isFaint) -> {
          List<Curves.Point> points = phase.of(profile, sweep);
          lines.add(
              new Figure.Line(name, y(points, Curves.Point::x), y(points, figure), color, isFaint));
        });
    return new Figure.Lines(
        sweep.title() + "-" + percentile.toLowerCase(Locale.ROOT),
        what + " of 16 KiB: " + percentile + " by clients",
        "Each client has one request on its way. " + how(sweep),
        new Figure.Axis("clients", false),
        new Figure.Axis(percentile + " latency (ms)", true),
        true,
        lines,
        List.of(),
        TWO_MILLIS);
  }

  private Figure sequential() {
    List<Figure.Bar> bars = new ArrayList<>();
    each(
        (phase, profile, name, color, isFaint) ->
            bars.add(
                new Figure.Bar(
                    name,
                    heights(
                        phase.of(profile, Sweep.SEQUENTIAL),
                        SEQUENTIAL_GROUPS,
                        point -> point.mebibytesPerSecond().mean()),
                    color,
                    isFaint)));
    return new Figure.Bars(
        "sequential",
        "Sequential throughput: whole objects of 4 MiB, four clients",
        "Reads go through the objects in order, writes make new ones. " + how(Sweep.SEQUENTIAL),
        "",
        SEQUENTIAL_GROUPS,
        new Figure.Axis("throughput (MiB/s)", false),
        bars);
  }

  private static double p50(Curves.Point point) {
    return point.p50Millis().mean();
  }

  private static double p99(Curves.Point point) {
    return point.p99Millis().mean();
  }

  private static double[] y(List<Curves.Point> points, ToDoubleFunction<Curves.Point> figure) {
    return points.stream().mapToDouble(figure).toArray();
  }

  /** In the order of the groups, not a number where there is no such step. */
  private static double[] heights(
      List<Curves.Point> points, List<String> groups, ToDoubleFunction<Curves.Point> figure) {
    return groups.stream()
        .mapToDouble(
            group ->
                points.stream()
                    .filter(point -> point.label().equals(group))
                    .mapToDouble(figure)
                    .findFirst()
                    .orElse(Double.NaN))
        .toArray();
  }

  private static double[] rates(List<ResponseCurve.Place> places) {
    return places.stream().mapToDouble(ResponseCurve.Place::operationsPerSecond).toArray();
  }

  private static double[] millis(List<ResponseCurve.Place> places) {
    return places.stream().mapToDouble(ResponseCurve.Place::millis).toArray();
  }
}
