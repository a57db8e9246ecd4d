package dev.ashlar.bench.chart;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.XYSeries.XYSeriesRenderStyle;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.Marker;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Makes XChart's charts of figures. */
final class Painter {
  static final int WIDTH = 1100;
  static final int HEIGHT = 560;

  private static final float LINE = 2.4f;
  private static final BasicStroke SOLID =
      new BasicStroke(LINE, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND);
  private static final BasicStroke DASHED =
      new BasicStroke(
          LINE, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1f, new float[] {7f, 5f}, 0f);
  private static final int ZONE_ALPHA = 38;
  private static final Marker[] POINTS = {
    SeriesMarkers.CIRCLE,
    SeriesMarkers.SQUARE,
    SeriesMarkers.TRIANGLE_UP,
    SeriesMarkers.TRIANGLE_DOWN,
    SeriesMarkers.PLUS,
    SeriesMarkers.TRAPEZOID,
    SeriesMarkers.RECTANGLE,
    SeriesMarkers.OVAL
  };
  private static final Marker[] MARKS = {SeriesMarkers.DIAMOND, SeriesMarkers.CROSS};

  private final Theme theme;

  Painter(Theme theme) {
    this.theme = theme;
  }

  Chart<?, ?> chart(Figure figure) {
    return switch (figure) {
      case Figure.Lines lines -> lines(lines);
      case Figure.Bars bars -> bars(bars);
    };
  }

  private XYChart lines(Figure.Lines figure) {
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(figure.title())
            .xAxisTitle(figure.x().title())
            .yAxisTitle(figure.y().title())
            .build();
    style(chart.getStyler());
    boolean isAlone = figure.lines().size() == 1 && figure.marks().isEmpty();
    chart.getStyler().setLegendVisible(!isAlone || figure.limit() != null);
    Scale x = Scale.of(figure.x(), figure.lines().stream().flatMapToDouble(l -> stream(l.x())));
    DoubleStream heights = figure.lines().stream().flatMapToDouble(l -> stream(l.y()));
    Figure.Limit limit = figure.limit();
    // The limit has to be in sight, with some room on either side.
    DoubleStream seen =
        limit == null ? DoubleStream.empty() : DoubleStream.of(limit.y() / 2, limit.y() * 2);
    Scale y = Scale.of(figure.y(), DoubleStream.concat(heights, seen));
    x.applyToX(chart.getStyler());
    y.applyToY(chart.getStyler(), HEIGHT);
    if (limit != null) {
      limit(chart, limit, x, y);
    }
    for (Figure.Line line : figure.lines()) {
      XYSeries series = chart.addSeries(line.name(), x.at(line.x()), y.at(line.y()));
      series.setLineColor(theme.series(line.color())).setLineStyle(SOLID);
      series.setMarker(
          figure.hasPoints() ? POINTS[line.color() % POINTS.length] : SeriesMarkers.NONE);
      series.setMarkerColor(theme.series(line.color()));
    }
    for (int kind = 0; kind < figure.marks().size(); kind++) {
      Figure.Marks marks = figure.marks().get(kind);
      XYSeries series = chart.addSeries(marks.name(), x.at(marks.x()), y.at(marks.y()));
      series.setXYSeriesRenderStyle(XYSeriesRenderStyle.Scatter);
      series.setMarker(MARKS[kind % MARKS.length]).setMarkerColor(theme.text());
    }
    return chart;
  }

  private static DoubleStream stream(double[] values) {
    return Arrays.stream(values).filter(value -> !Double.isNaN(value));
  }

  private void limit(XYChart chart, Figure.Limit limit, Scale x, Scale y) {
    double left = x.low();
    double right = x.high();
    double at = y.at(limit.y());
    Color color = theme.warning();
    XYSeries zone =
        chart.addSeries(
            "above " + limit.name(),
            new double[] {left, right, right, left},
            new double[] {at, at, y.high(), y.high()});
    zone.setXYSeriesRenderStyle(XYSeriesRenderStyle.PolygonArea);
    zone.setFillColor(new Color(color.getRed(), color.getGreen(), color.getBlue(), ZONE_ALPHA));
    zone.setLineColor(new Color(0, 0, 0, 0));
    zone.setMarker(SeriesMarkers.NONE);
    XYSeries line =
        chart.addSeries(limit.name(), new double[] {left, right}, new double[] {at, at});
    line.setLineColor(theme.text()).setLineStyle(DASHED);
    line.setMarker(SeriesMarkers.NONE);
  }

  private CategoryChart bars(Figure.Bars figure) {
    CategoryChart chart =
        new CategoryChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(figure.title())
            .xAxisTitle(figure.groupTitle())
            .yAxisTitle(figure.y().title())
            .build();
    style(chart.getStyler());
    chart.getStyler().setAvailableSpaceFill(0.9);
    chart.getStyler().setPlotGridVerticalLinesVisible(false);
    Scale y =
        Scale.of(figure.y(), figure.bars().stream().flatMapToDouble(b -> stream(b.heights())));
    y.applyToY(chart.getStyler(), HEIGHT);
    for (Figure.Bar bar : figure.bars()) {
      chart
          .addSeries(bar.name(), figure.groups(), places(y.at(bar.heights())))
          .setFillColor(bar.isFaint() ? theme.paleSeries(bar.color()) : theme.series(bar.color()));
    }
    return chart;
  }

  /** XChart leaves out what is null. */
  private static List<@Nullable Double> places(double[] heights) {
    List<@Nullable Double> places = new ArrayList<>();
    for (double height : heights) {
      places.add(Double.isNaN(height) ? null : (Double) height);
    }
    return places;
  }

  private void style(AxesChartStyler styler) {
    Font font = new Font(Font.SANS_SERIF, Font.PLAIN, 13);
    styler.setBaseFont(font);
    styler.setChartTitleFont(font.deriveFont(Font.BOLD, 16f)).setChartTitleBoxVisible(false);
    styler.setChartBackgroundColor(theme.ground()).setPlotBackgroundColor(theme.ground());
    styler.setChartFontColor(theme.text());
    styler.setPlotBorderVisible(false).setChartPadding(14);
    styler.setLegendPosition(Styler.LegendPosition.OutsideE).setLegendFont(font);
    styler.setLegendBackgroundColor(theme.ground()).setLegendBorderColor(theme.ground());
    styler.setMarkerSize(9);
    styler.setAxisTitleFont(font.deriveFont(Font.BOLD)).setAxisTickLabelsFont(font);
    styler.setAxisTickLabelsColor(theme.text()).setAxisTickMarksColor(theme.grid());
    styler.setXAxisTitleColor(theme.text()).setYAxisTitleColor(theme.text());
    styler.setPlotGridLinesColor(theme.grid());
    styler.setPlotGridLinesStroke(new BasicStroke(0.8f));
    styler.setDecimalPattern("#,##0.###");
    styler.setLocale(Locale.ROOT);
  }
}
