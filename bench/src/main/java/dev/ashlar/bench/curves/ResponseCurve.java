package dev.ashlar.bench.curves;

import java.util.Comparator;
import java.util.List;

/** Throughput and latency as more and more requests are on their way. */
record ResponseCurve(List<Place> places) {
  private static final double PLANNED_SHARE = 0.7;

  /** On the curve. */
  record Place(double operationsPerSecond, double millis) {
    /** Kleinrock's power of a queue: more throughput and less latency both raise it. */
    double power() {
      return operationsPerSecond / millis;
    }
  }

  static ResponseCurve of(List<Curves.Point> points) {
    return new ResponseCurve(
        points.stream()
            .map(point -> new Place(point.operationsPerSecond().mean(), point.meanMillis().mean()))
            .toList());
  }

  /**
   * Where throughput divided by latency is highest: before it there is throughput to be had for
   * little latency, behind it latency grows faster.
   */
  Place knee() {
    return places.stream().max(Comparator.comparingDouble(Place::power)).orElseThrow();
  }

  /** At 70 % of the highest throughput: room for peaks and for a server that is away. */
  Place planned() {
    double wanted = PLANNED_SHARE * highest();
    Place before = places.getFirst();
    if (before.operationsPerSecond() >= wanted) {
      return before; // even one request at a time is more
    }
    for (Place after : places) {
      if (after.operationsPerSecond() >= wanted) {
        double share =
            (wanted - before.operationsPerSecond())
                / (after.operationsPerSecond() - before.operationsPerSecond());
        // On the line between them as it is drawn, over a logarithmic axis.
        double millis = before.millis() * Math.pow(after.millis() / before.millis(), share);
        return new Place(wanted, millis);
      }
      before = after;
    }
    throw new IllegalStateException("no place reaches a share of the highest");
  }

  double highest() {
    return places.stream().mapToDouble(Place::operationsPerSecond).max().orElseThrow();
  }
}
