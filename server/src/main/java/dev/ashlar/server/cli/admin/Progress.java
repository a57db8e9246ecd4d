package dev.ashlar.server.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;

/**
 * The pages {@code repair} and {@code rebalance} until nothing is left. Only the remainder of the
 * work is known: a bar, the rate, the time left.
 */
final class Progress implements Watch.View {
  private static final int BAR = 30;

  /** The rate is that of the last looks. */
  private static final int LOOKS = 15;

  private final Deque<Look> looks = new ArrayDeque<>();
  private long most;
  private String line = "";
  private boolean isDone;

  private record Look(long nanos, long left) {}

  Progress(long beganNanos) {
    looks.add(new Look(beganNanos, -1));
  }

  @Override
  public boolean update(JsonNode page) {
    boolean isRepair = page.has("debtBlobs");
    long blobs = page.path(isRepair ? "debtBlobs" : "blobs").asLong();
    long bytes = page.path(isRepair ? "debtBytes" : "bytes").asLong();
    // A large drain takes several epochs. Between two of them nothing may be left to move.
    boolean isBetweenEpochs = blobs == 0 && !page.path("draining").isEmpty();
    boolean isComplete =
        page.path("known").asBoolean() && page.path("coming").isEmpty() && !isBetweenEpochs;
    add(System.nanoTime(), bytes, isComplete);
    line = line(blobs, isComplete, page.path("paused").asBoolean());
    isDone = isComplete && blobs == 0;
    return true;
  }

  @Override
  public List<String> lines(String failure) {
    return List.of(failure.isEmpty() ? line : line + "  " + failure);
  }

  @Override
  public boolean isDone() {
    return isDone;
  }

  @Override
  public String end() {
    return "Nothing is left to be done.";
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
                : rate == 0 ? "" : Units.pace(rate, Duration.ofSeconds((long) (left / rate)));
    return String.format(
        Locale.ROOT,
        "%s %3d %%  %d blobs, %s left  %s",
        bar(done, BAR),
        (int) Math.floor(100 * done),
        blobs,
        Units.bytes((double) left),
        end);
  }

  /**
   * @param done from 0 to 1
   */
  static String bar(double done, int width) {
    int filled = (int) Math.floor(done * width);
    return "[" + "#".repeat(filled) + "-".repeat(width - filled) + "]";
  }
}
