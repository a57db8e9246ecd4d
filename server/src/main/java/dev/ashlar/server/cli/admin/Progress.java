package dev.ashlar.server.cli.admin;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;

/** How far something has got of which only what is left is told: a bar, the rate, the time left. */
final class Progress {
  private static final int BAR = 30;

  /** The rate is that of the last looks. */
  private static final int LOOKS = 15;

  private final Deque<Look> looks = new ArrayDeque<>();
  private long most;

  private record Look(long nanos, long left) {}

  Progress(long beganNanos) {
    looks.add(new Look(beganNanos, -1));
  }

  /**
   * @param left bytes
   * @param isKnown whether that is all
   */
  void add(long nanos, long left, boolean isKnown) {
    boolean isMore = left > most;
    most = Math.max(most, left);
    if (isMore || !isKnown || looks.getFirst().left() < 0) {
      looks.clear(); // of what grows there is no rate
    }
    looks.add(new Look(nanos, left));
    if (looks.size() > LOOKS) {
      looks.remove();
    }
  }

  /** Bytes per second; 0 where that is not known. */
  double rate() {
    Look first = looks.getFirst();
    Look last = looks.getLast();
    long nanos = last.nanos() - first.nanos();
    return nanos <= 0 ? 0 : Math.max(0, first.left() - last.left()) * 1e9 / nanos;
  }

  /** What is shown of it. */
  String line(long blobs, boolean isKnown, boolean isPaused) {
    long left = Math.max(0, looks.getLast().left());
    double done = most == 0 ? (isKnown ? 1 : 0) : (double) (most - left) / most;
    double rate = rate();
    String end =
        isPaused
            ? "paused"
            : !isKnown
                ? "being counted"
                : rate == 0
                    ? ""
                    : text(rate) + "/s, " + text(Duration.ofSeconds((long) (left / rate)));
    return String.format(
        Locale.ROOT,
        "%s %3d %%  %d blobs, %s left  %s",
        bar(done),
        (int) Math.floor(100 * done),
        blobs,
        text((double) left),
        end);
  }

  /**
   * @param done from 0 to 1
   */
  static String bar(double done) {
    int filled = (int) Math.floor(done * BAR);
    return "[" + "#".repeat(filled) + "-".repeat(BAR - filled) + "]";
  }

  /** Of a time that is left. */
  static String text(Duration left) {
    return time(left) + " left";
  }

  static String time(Duration time) {
    return time.toDays() > 0
        ? time.toDays() + " d " + time.toHoursPart() + " h"
        : time.toHours() > 0
            ? time.toHours() + " h " + time.toMinutesPart() + " min"
            : time.toMinutes() > 0
                ? time.toMinutes() + " min " + time.toSecondsPart() + " s"
                : time.toSeconds() + " s";
  }

  /** Of bytes, with a unit. */
  static String text(double bytes) {
    String[] units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int unit = 0;
    double value = bytes;
    while (value >= 1024 && unit < units.length - 1) {
      value /= 1024;
      unit++;
    }
    return String.format(Locale.ROOT, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  }
}
