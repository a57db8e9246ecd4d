package dev.ashlar.bench.chart;

import dev.ashlar.bench.process.BenchException;
import java.awt.Font;
import java.awt.font.FontRenderContext;

/** Whether this machine can draw letters, which small servers often cannot. */
public final class Fonts {
  private Fonts() {}

  /**
   * Called before anything is measured.
   *
   * @throws BenchException when there are none
   */
  public static void check() {
    try {
      new Font(Font.SANS_SERIF, Font.PLAIN, 12)
          .createGlyphVector(new FontRenderContext(null, true, true), "op/s");
    } catch (RuntimeException | LinkageError | InternalError e) {
      // What the virtual machine throws depends on what is missing.
      throw new BenchException(
          "Charts need fonts, and Java finds none ("
              + e.getMessage()
              + "). On Debian and Ubuntu: apt-get install fontconfig fonts-dejavu-core",
          e);
    }
  }
}
