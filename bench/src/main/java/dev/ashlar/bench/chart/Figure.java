package dev.ashlar.bench.chart;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a chart shows, whatever it is drawn with. */
public sealed interface Figure {
  /** Of files; letters, digits and hyphens. */
  String name();

  String title();

  /** Below the chart: what it shows and how it was measured. */
  String caption();

  /** The quantity along an axis, with its unit. */
  record Axis(String title, boolean isLogarithmic) {}

  /**
   * Points joined by a line.
   *
   * @param color the same number is the same colour in all charts
   */
  record Line(String name, double[] x, double[] y, int color) {}

  /** Single points of all lines that mean the same. */
  record Marks(String name, double[] x, double[] y) {}

  /** A height that should not be exceeded; the zone above it is shaded. */
  record Limit(String name, double y) {}

  /**
   * Lines.
   *
   * @param hasPoints whether the measured points are shown
   */
  record Lines(
      String name,
      String title,
      String caption,
      Axis x,
      Axis y,
      boolean hasPoints,
      List<Line> lines,
      List<Marks> marks,
      @Nullable Limit limit)
      implements Figure {}

  /**
   * A bar in each group.
   *
   * @param heights not a number where a group has none
   * @param isFaint lighter than others of the same colour
   */
  record Bar(String name, double[] heights, int color, boolean isFaint) {}

  /** Groups of bars. */
  record Bars(
      String name,
      String title,
      String caption,
      String groupTitle,
      List<String> groups,
      Axis y,
      List<Bar> bars)
      implements Figure {}
}
