package dev.ashlar.server.cli.admin;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/** How fast numbers of bytes rise and fall over the last looks at them. */
final class Rates {
  /** Drives tell how full they are every ten seconds. */
  private static final Duration SPAN = Duration.ofSeconds(30);

  private final Map<String, Deque<Seen>> series = new HashMap<>();
  private long nowMs;

  private record Seen(long ms, long bytes) {}

  /** What is seen from now on is seen at this time. */
  void look(long ms) {
    nowMs = ms;
    series
        .values()
        .removeIf(seen -> ms - seen.getLast().ms() > SPAN.toMillis()); // it is not there now
  }

  /**
   * What is put behind the number: empty where it stays as it is, or was not seen before.
   *
   * @param of tells it from others
   */
  String seen(String of, long bytes) {
    Deque<Seen> seen = series.computeIfAbsent(of, name -> new ArrayDeque<>());
    seen.add(new Seen(nowMs, bytes));
    while (seen.size() > 2 && nowMs - seen.getFirst().ms() > SPAN.toMillis()) {
      seen.remove();
    }
    long ms = nowMs - seen.getFirst().ms();
    long change = bytes - seen.getFirst().bytes();
    if (ms <= 0 || change == 0) {
      return "";
    }
    String text = Units.bytes(Math.abs(change) * (double) Duration.ofSeconds(1).toMillis() / ms);
    return (change > 0 ? " +" : " -") + text + "/s";
  }
}
