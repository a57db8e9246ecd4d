package dev.ashlar.bench.features;

import dev.ashlar.bench.load.LoadRun;
import dev.ashlar.bench.load.Work;

/**
 * The same work without and with a feature.
 *
 * @param title what is compared, with the names of both sides
 * @param limit what is promised of it
 */
record Comparison(String title, Side without, Side with, Limit limit) {
  /** Work on one bucket. */
  record Side(LoadRun run, Work work) {}

  /** The most that a feature may cost. */
  sealed interface Limit {
    /** Of the server's CPU per operation, a multiple of the side without. */
    record Ratio(double times) implements Limit {}

    /** Of the server's CPU per operation, on top of the side without. */
    record Added(double micros) implements Limit {}
  }
}
