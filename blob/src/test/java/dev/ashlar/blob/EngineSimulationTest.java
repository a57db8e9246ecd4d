package dev.ashlar.blob;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

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
    Map<String, Double> work = new TreeMap<>();
    for (int i = 0; i < runs; i++) {
      run(first + i).forEach((what, count) -> work.merge(what, count, Double::sum));
    }
    System.out.println("done: " + work);
    if (runs >= RUNS_DEFAULT) {
      work.forEach((what, count) -> assertTrue(count > 0, what + " never happened"));
    }
  }

  @ParameterizedTest
  @MethodSource("dev.ashlar.blob.PlantedBug#ofEngine")
  void plantedBugsAreFound(PlantedBug bug) {
    PlantedBugHunt.hunt(bug, RUNS_DEFAULT, seed -> new EngineSimulation(seed, bug).run());
  }

  private static Map<String, Double> run(long seed) {
    try {
      EngineSimulation simulation = new EngineSimulation(seed, PlantedBug.NONE);
      simulation.run();
      return simulation.work();
    } catch (Exception | AssertionError e) {
      throw new AssertionError("replay with -Dashlar.engine.seed=" + seed, e);
    }
  }
}
