package dev.ashlar.bench.versus;

import java.time.Duration;
import java.time.Instant;

/** One request as warp recorded it. */
record Operation(String type, Instant start, Instant end, boolean failed) {
  private static final int COLUMNS = 14;

  /**
   * A line of {@code warp --stdout}: idx, thread, op, client, n_objects, bytes, endpoint, file,
   * error, start, first_byte, end, duration_ns, category; between tabs.
   */
  static Operation parse(String line) {
    String[] fields = line.split("\t", -1);
    return new Operation(
        fields[2], Instant.parse(fields[9]), Instant.parse(fields[11]), !fields[8].isEmpty());
  }

  /** Warp prints its report behind the records. */
  static boolean isRecord(String line) {
    return !line.isEmpty()
        && Character.isDigit(line.charAt(0))
        && line.chars().filter(c -> c == '\t').count() == COLUMNS - 1;
  }

  Duration duration() {
    return Duration.between(start, end);
  }

  /** The share of this operation that lies between the two instants. */
  double shareWithin(Instant from, Instant to) {
    Instant late = start.isAfter(from) ? start : from;
    Instant early = end.isBefore(to) ? end : to;
    if (early.isBefore(late)) {
      return 0;
    }
    long whole = duration().toNanos();
    return whole == 0 ? 1 : (double) Duration.between(late, early).toNanos() / whole;
  }
}
