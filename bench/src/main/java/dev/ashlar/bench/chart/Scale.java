package dev.ashlar.bench.chart;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.DoubleStream;
import org.knowm.xchart.style.AxesChartStyler;

/**
 * Where values lie along an axis. XChart's own logarithmic axes name powers of ten only, of which a
 * latency's range holds one or two: ours are even axes of doublings, counted from the lowest.
 *
 * @param low lowest place
 * @param high highest place
 * @param lowestPower of two, that place 0 stands for
 */
record Scale(boolean isLogarithmic, double low, double high, int lowestPower) {
  private static final double HEADROOM = 1.08;
  private static final double AXIS_SHARE = 0.7;

  static Scale of(Figure.Axis axis, DoubleStream values) {
    double[] all = values.filter(value -> !axis.isLogarithmic() || value > 0).toArray();
    double most = Arrays.stream(all).max().orElse(1);
    if (!axis.isLogarithmic()) {
      return new Scale(false, 0, Math.max(HEADROOM * most, Double.MIN_NORMAL), 0);
    }
    int lowest = (int) Math.floor(log2(Arrays.stream(all).min().orElse(1)));
    double highest = Math.max(Math.ceil(log2(most)), lowest + 1.0);
    return new Scale(true, 0, highest - lowest, lowest);
  }

  double at(double value) {
    return isLogarithmic ? Math.max(0, log2(value) - lowestPower) : value;
  }

  double[] at(double[] values) {
    return Arrays.stream(values).map(this::at).toArray();
  }

  void applyToX(AxesChartStyler styler) {
    styler.setXAxisMin(low).setXAxisMax(high);
    if (isLogarithmic) {
      styler.setxAxisTickLabelsFormattingFunction(this::label);
    }
  }

  /**
   * @param pixels of the whole chart
   */
  void applyToY(AxesChartStyler styler, int pixels) {
    styler.setYAxisMin(low).setYAxisMax(high);
    if (isLogarithmic) {
      styler.setyAxisTickLabelsFormattingFunction(this::label);
      styler.setYAxisTickMarkSpacingHint((int) (AXIS_SHARE * pixels / high));
    }
  }

  private String label(double place) {
    double value = Math.pow(2, place + lowestPower);
    int digits = value >= 1 ? 0 : value >= 0.25 ? 2 : 3;
    String text = String.format(Locale.ROOT, "%,." + digits + "f", value);
    return text.contains(".") ? text.replaceAll("0+$", "") : text;
  }

  private static double log2(double value) {
    return Math.log(value) / Math.log(2);
  }
}
