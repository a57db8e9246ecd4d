package dev.ashlar.server.cli.admin;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;

/** Progress of work of which only the remainder is known: a bar, the rate, the time left. */
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
                    : Units.bytes(rate)
                        + "/s, "
                        + Units.timeLeft(Duration.ofSeconds((long) (left / rate)));
    return String.format(
        Locale.ROOT,
        "%s %3d %%  %d blobs, %s left  %s",
        bar(done),
        (int) Math.floor(100 * done),
        blobs,
        Units.bytes((double) left),
        end);
  }

  /**
   * @param done from 0 to 1
   */
  static String bar(double done) {
    int filled = (int) Math.floor(done * BAR);
    return "[" + "#".repeat(filled) + "-".repeat(BAR - filled) + "]";
  }
}
