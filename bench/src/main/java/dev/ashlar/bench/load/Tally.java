package dev.ashlar.bench.load;

import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * What a loop has counted: the operations that ended in the measured time, and latencies. Those of
 * a closed loop are of the same operations, those of an open loop of the operations that were meant
 * to begin in that time.
 */
final class Tally {
  private static final long LATENCY_MAX_NANOS = 3_600_000_000_000L;
  private static final int DIGITS = 3;

  private final Map<Kind, Count> counts = new EnumMap<>(Kind.class);
  private final Map<Kind, Long> answered = new EnumMap<>(Kind.class);
  private long unsent;
  private double busyShare;

  /** Of one kind of operation. */
  static final class Count {
    final Histogram latency = new Histogram(LATENCY_MAX_NANOS, DIGITS);
    final Map<String, Long> errors = new TreeMap<>();
    long operations;
    long bytes;

    void add(Count other) {
      latency.add(other.latency);
      other.errors.forEach((name, times) -> errors.merge(name, times, Long::sum));
      operations += other.operations;
      bytes += other.bytes;
    }
  }

  /** An operation ended in the measured time. */
  void ended(Operation operation, @Nullable String error) {
    Count count = count(operation.kind());
    if (error != null) {
      count.errors.merge(error, 1L, Long::sum);
    } else {
      count.operations++;
      count.bytes += operation.bytes();
    }
  }

  void took(Kind kind, long nanos) {
    count(kind).latency.recordValue(Math.clamp(nanos, 0, LATENCY_MAX_NANOS));
  }

  /** A request that an open loop came too late to send: it would have taken longer than this. */
  void unsent(Kind kind, long waitedNanos) {
    unsent++;
    took(kind, waitedNanos);
  }

  /** Every answer of the server counts here, warming up and errors too. */
  void answered(Kind kind) {
    answered.merge(kind, 1L, Long::sum);
  }

  void busy(double shareOfTheWindow) {
    busyShare = Math.max(busyShare, shareOfTheWindow);
  }

  void add(Tally other) {
    other.counts.forEach((kind, count) -> count(kind).add(count));
    other.answered.forEach((kind, times) -> answered.merge(kind, times, Long::sum));
    unsent += other.unsent;
    busy(other.busyShare);
  }

  Map<Kind, Count> counts() {
    return counts;
  }

  Map<Kind, Long> answered() {
    return answered;
  }

  long unsent() {
    return unsent;
  }

  /** CPU that the busiest loop took, as a share of the measured window. */
  double busyShare() {
    return busyShare;
  }

  private Count count(Kind kind) {
    return counts.computeIfAbsent(kind, first -> new Count());
  }
}
