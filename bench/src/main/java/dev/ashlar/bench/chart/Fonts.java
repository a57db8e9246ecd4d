package dev.ashlar.bench.chart;

import java.awt.Font;
import java.awt.font.FontRenderContext;
import java.io.IOException;

/** Whether this machine can draw letters, which small servers often cannot. */
public final class Fonts {
  private Fonts() {}

  /** There are none. */
  public static final class MissingException extends IOException {
    private static final long serialVersionUID = 1;

    MissingException(Throwable cause) {
      super(
          "Charts need fonts, and Java finds none ("
              + cause.getMessage()
              + ")."
              + " On Debian and Ubuntu: apt-get install fontconfig fonts-dejavu-core",
          cause);
    }
  }

  /** Called before anything is measured. */
  public static void check() throws MissingException {
    try {
      new Font(Font.SANS_SERIF, Font.PLAIN, 12)
          .createGlyphVector(new FontRenderContext(null, true, true), "op/s");
    } catch (RuntimeException | LinkageError | InternalError e) {
      // What the virtual machine throws depends on what is missing.
      throw new MissingException(e);
    }
  }
}
