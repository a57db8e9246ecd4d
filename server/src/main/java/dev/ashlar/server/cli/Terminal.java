package dev.ashlar.server.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The terminal to which the standard output goes, if it is one. */
public final class Terminal {
  private static final Path OUTPUT = Path.of("/proc/self/fd/1");
  private static final long STTY_SECONDS = 2;

  private Terminal() {}

  /** What is seen of it at once. */
  public record Size(int lines, int columns) {
    public static final Size UNKNOWN = new Size(Integer.MAX_VALUE, Integer.MAX_VALUE);

    /** As {@code stty size} prints it; a terminal that does not know says 0. */
    public static Size parse(String text) {
      String[] parts = text.strip().split(" ", -1);
      try {
        int lines = Integer.parseInt(parts[0]);
        int columns = parts.length == 2 ? Integer.parseInt(parts[1]) : 0;
        return lines > 1 && columns > 1 ? new Size(lines, columns) : UNKNOWN;
      } catch (NumberFormatException e) {
        return UNKNOWN;
      }
    }
  }

  /** Null where the standard output is none; System.console() tells that of the input too. */
  private static @Nullable Path device() {
    try {
      Path output = OUTPUT.toRealPath();
      return output.startsWith("/dev/pts") || output.startsWith("/dev/tty") ? output : null;
    } catch (IOException e) {
      return null;
    }
  }

  /** Whether a person reads the standard output. */
  public static boolean isOutput() {
    return device() != null;
  }

  /** As it is now: people change the sizes of their windows. */
  public static Size size() {
    Path device = device();
    if (device == null) {
      return Size.UNKNOWN;
    }
    try {
      Process stty =
          new ProcessBuilder("stty", "size")
              .redirectInput(device.toFile())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      if (!stty.waitFor(STTY_SECONDS, TimeUnit.SECONDS)) {
        stty.destroy();
        return Size.UNKNOWN;
      }
      return Size.parse(
          new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII));
    } catch (IOException e) {
      return Size.UNKNOWN;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Size.UNKNOWN;
    }
  }
}
