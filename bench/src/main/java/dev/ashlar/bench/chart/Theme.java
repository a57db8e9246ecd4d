package dev.ashlar.bench.chart;

import java.awt.Color;
import java.util.Locale;

/**
 * Colours on a light and on a dark ground. Series take those of Okabe and Ito, which people with
 * any kind of colour blindness tell apart; the ones too faint on a ground come last there.
 */
enum Theme {
  LIGHT(0xFFFFFF, 0x222222, 0xD9D9D9, 0xE69F00),
  DARK(0x16181D, 0xE6E6E6, 0x3A3F47, 0xE69F00);

  private static final int[] SERIES_ON_LIGHT = {
    0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0xE69F00, 0x56B4E9, 0x000000, 0xB8A800
  };
  private static final int[] SERIES_ON_DARK = {
    0x56B4E9, 0xE69F00, 0x00B887, 0xCC79A7, 0xF0E442, 0xD55E00, 0xFFFFFF, 0x3D8FCC
  };

  private final Color ground;
  private final Color text;
  private final Color grid;
  private final Color warning;

  Theme(int ground, int text, int grid, int warning) {
    this.ground = new Color(ground);
    this.text = new Color(text);
    this.grid = new Color(grid);
    this.warning = new Color(warning);
  }

  Color ground() {
    return ground;
  }

  Color text() {
    return text;
  }

  Color grid() {
    return grid;
  }

  /** Of what should not be entered. */
  Color warning() {
    return warning;
  }

  Color series(int index) {
    int[] colors = this == LIGHT ? SERIES_ON_LIGHT : SERIES_ON_DARK;
    return new Color(colors[index % colors.length]);
  }

  /** Halfway to the ground, and as opaque: lines of the grid do not show through. */
  Color paleSeries(int index) {
    Color full = series(index);
    return new Color(
        (full.getRed() + ground.getRed()) / 2,
        (full.getGreen() + ground.getGreen()) / 2,
        (full.getBlue() + ground.getBlue()) / 2);
  }

  String suffix() {
    return name().toLowerCase(Locale.ROOT);
  }
}
