package dev.ashlar.bench.curves;

import dev.ashlar.bench.chart.Figure;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** The charts of all profiles. */
final class CurvesCharts {
  private static final Figure.Axis OPERATIONS =
      new Figure.Axis("operations per second (op/s)", false);
  private static final Figure.Axis MEAN = new Figure.Axis("mean latency (ms)", true);
  private static final List<String> SEQUENTIAL_GROUPS = List.of("read", "write");
  private static final Figure.Limit TWO_MILLIS = new Figure.Limit("2 ms", 2);

  private final Curves curves;

  CurvesCharts(Curves curves) {
    this.curves = curves;
  }

  List<Figure> figures() {
    List<Figure> figures = new ArrayList<>();
    figures.add(response());
    figures.add(blocks(Sweep.BLOCK_READ, "Reads"));
    figures.add(blocks(Sweep.BLOCK_PATCH, "Overwrites"));
    figures.add(clients(Sweep.CLIENTS_READ, "Reads", "P50", CurvesCharts::p50));
    figures.add(clients(Sweep.CLIENTS_READ, "Reads", "P99", CurvesCharts::p99));
    figures.add(clients(Sweep.CLIENTS_PATCH, "Overwrites", "P50", CurvesCharts::p50));
    figures.add(clients(Sweep.CLIENTS_PATCH, "Overwrites", "P99", CurvesCharts::p99));
    figures.add(sequential());
    return figures;
  }

  static String title(String profile) {
    return profile.replace(",optimizations=off", " classic");
  }

  private Figure response() {
    List<Figure.Line> lines = new ArrayList<>();
    List<ResponseCurve> responses = new ArrayList<>();
    for (String profile : curves.profiles()) {
      ResponseCurve response = ResponseCurve.of(curves.of(profile, Sweep.RESPONSE));
      responses.add(response);
      lines.add(
          new Figure.Line(
              title(profile), rates(response.places()), millis(response.places()), lines.size()));
    }
    List<ResponseCurve.Place> knees = responses.stream().map(ResponseCurve::knee).toList();
    List<ResponseCurve.Place> planned = responses.stream().map(ResponseCurve::planned).toList();
    return new Figure.Lines(
        "response",
        "Response: 70 % reads, 30 % overwrites of 16 KiB, random",
        "Each point has more requests on their way than the one before. The knee is where"
            + " throughput divided by latency is highest; to plan with, take 70 % of the highest"
            + " throughput. "
            + curves.how(Sweep.RESPONSE),
        OPERATIONS,
        MEAN,
        true,
        lines,
        List.of(
            new Figure.Marks("knee", rates(knees), millis(knees)),
            new Figure.Marks("70 % planning point", rates(planned), millis(planned))),
        null);
  }

  private Figure blocks(Sweep sweep, String what) {
    List<String> groups = curves.labels(sweep);
    List<Figure.Bar> bars = new ArrayList<>();
    int color = 0;
    for (String profile : curves.profiles()) {
      List<Curves.Point> points = curves.of(profile, sweep);
      double[] p50 = heights(points, groups, CurvesCharts::p50);
      double[] p99 = heights(points, groups, CurvesCharts::p99);
      bars.add(new Figure.Bar(title(profile) + ", P50", p50, color, false));
      bars.add(new Figure.Bar(title(profile) + ", P99", p99, color, true));
      color++;
    }
    return new Figure.Bars(
        sweep.title(),
        what + " by block size, one at a time",
        "Random blocks of objects of 4 MiB, one request on its way. " + curves.how(sweep),
        "block size",
        groups,
        new Figure.Axis("latency (ms)", true),
        bars);
  }

  private Figure clients(
      Sweep sweep, String what, String percentile, ToDoubleFunction<Curves.Point> figure) {
    List<Figure.Line> lines = new ArrayList<>();
    for (String profile : curves.profiles()) {
      List<Curves.Point> points = curves.of(profile, sweep);
      double[] clients = y(points, Curves.Point::x);
      lines.add(new Figure.Line(title(profile), clients, y(points, figure), lines.size()));
    }
    return new Figure.Lines(
        sweep.title() + "-" + percentile.toLowerCase(Locale.ROOT),
        what + " of 16 KiB: " + percentile + " by clients",
        "Each client has one request on its way. " + curves.how(sweep),
        new Figure.Axis("clients", false),
        new Figure.Axis(percentile + " latency (ms)", true),
        true,
        lines,
        List.of(),
        TWO_MILLIS);
  }

  private Figure sequential() {
    List<Figure.Bar> bars = new ArrayList<>();
    for (String profile : curves.profiles()) {
      List<Curves.Point> points = curves.of(profile, Sweep.SEQUENTIAL);
      double[] rates =
          heights(points, SEQUENTIAL_GROUPS, point -> point.mebibytesPerSecond().mean());
      bars.add(new Figure.Bar(title(profile), rates, bars.size(), false));
    }
    return new Figure.Bars(
        "sequential",
        "Sequential throughput: whole objects of 4 MiB, four clients",
        "Reads go through the objects in order, writes make new ones. "
            + curves.how(Sweep.SEQUENTIAL),
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
