package dev.ashlar.bench.soak;

import dev.ashlar.bench.chart.Figure;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** A soak over time. */
final class SoakCharts {
  private static final double SECONDS_PER_MINUTE = 60;

  private final List<Sample> samples;
  private final double[] minutes;

  SoakCharts(List<Sample> samples) {
    this.samples = samples;
    minutes = values(sample -> sample.seconds() / SECONDS_PER_MINUTE);
  }

  List<Figure> figures() {
    return List.of(
        chart(
            "memory",
            "Memory of the server",
            "MiB",
            "Resident memory of the process, and what of it the collector's heap and direct buffers"
                + " use. The heap rises until it is collected.",
            line("resident", Sample::residentMebibytes, 0),
            line("heap used", Sample::heapMebibytes, 1),
            line("direct buffers", Sample::directMebibytes, 2)),
        chart(
            "handles",
            "Threads and file handles of the server",
            "number",
            "As Linux counts them for the process.",
            line("threads", Sample::threads, 0),
            line("file handles", Sample::fileHandles, 1)),
        chart(
            "cpu",
            "CPU of the server",
            "processors busy",
            "Between one sample and the next, folding, compaction and collection included.",
            new Figure.Line("CPU", minutes, rate(Sample::cpuMillis, 1e-3), 0)),
        chart(
            "requests",
            "Requests answered",
            "requests/s",
            "By the server's own count, between one sample and the next.",
            new Figure.Line("requests", minutes, rate(Sample::requests, 1), 0)));
  }

  private Figure chart(
      String name, String title, String unit, String caption, Figure.Line... lines) {
    return new Figure.Lines(
        name,
        title,
        caption,
        new Figure.Axis("minutes since the load began", false),
        new Figure.Axis(unit, false),
        false,
        List.of(lines).stream().filter(SoakCharts::isKnown).toList(),
        List.of(),
        null);
  }

  private static boolean isKnown(Figure.Line line) {
    return Arrays.stream(line.y()).noneMatch(Double::isNaN);
  }

  private Figure.Line line(String name, ToDoubleFunction<Sample> figure, int color) {
    return new Figure.Line(name, minutes, values(figure), color);
  }

  private double[] values(ToDoubleFunction<Sample> figure) {
    return samples.stream().mapToDouble(figure).toArray();
  }

  /** Of something that is counted up, per second; the first sample repeats the second. */
  private double[] rate(ToDoubleFunction<Sample> counted, double scale) {
    double[] rates = new double[samples.size()];
    for (int i = 1; i < rates.length; i++) {
      Sample from = samples.get(i - 1);
      Sample to = samples.get(i);
      double more = counted.applyAsDouble(to) - counted.applyAsDouble(from);
      rates[i] = scale * more / Math.max(1e-3, to.seconds() - from.seconds());
    }
    if (rates.length > 1) {
      rates[0] = rates[1];
    }
    return rates;
  }
}
