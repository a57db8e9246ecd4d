package dev.ashlar.server.cli.admin;

import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Bytes and times with their units. */
public final class Units {
  private static final String[] BYTES = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

  private Units() {}

  public static String bytes(double bytes) {
    int unit = 0;
    double value = bytes;
    while (value >= 1024 && unit < BYTES.length - 1) {
      value /= 1024;
      unit++;
    }
    return String.format(Locale.ROOT, unit == 0 ? "%.0f %s" : "%.1f %s", value, BYTES[unit]);
  }

  public static String time(Duration time) {
    return time.toDays() > 0
        ? time.toDays() + " d " + time.toHoursPart() + " h"
        : time.toHours() > 0
            ? time.toHours() + " h " + time.toMinutesPart() + " min"
            : time.toMinutes() > 0
                ? time.toMinutes() + " min " + time.toSecondsPart() + " s"
                : time.toSeconds() + " s";
  }

  /**
   * @param left null: not known
   */
  public static String pace(double bytesPerSecond, @Nullable Duration left) {
    return bytes(bytesPerSecond) + "/s" + (left == null ? "" : ", " + time(left) + " left");
  }
}
