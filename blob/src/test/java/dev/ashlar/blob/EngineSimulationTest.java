package dev.ashlar.blob;

import org.junit.jupiter.api.Test;

/**
 * Seeded runs of the whole engine: {@code -Dashlar.engine.runs=10000} sets how many, {@code
 * -Dashlar.engine.seed=N} replays one.
 */
class EngineSimulationTest {
  private static final int RUNS_DEFAULT = 150;

  @Test
  void everyChangeHappensWholeOrNotAtAll() {
    Long replay = Long.getLong("ashlar.engine.seed");
    if (replay != null) {
      run(replay);
      return;
    }
    long first = System.nanoTime();
    int runs = Integer.getInteger("ashlar.engine.runs", RUNS_DEFAULT);
    System.out.println("engine simulation: " + runs + " runs from seed " + first);
    for (int i = 0; i < runs; i++) {
      run(first + i);
    }
  }

  private static void run(long seed) {
    try {
      new EngineSimulation(seed).run();
    } catch (Exception | AssertionError e) {
      throw new AssertionError("replay with -Dashlar.engine.seed=" + seed, e);
    }
  }
}
