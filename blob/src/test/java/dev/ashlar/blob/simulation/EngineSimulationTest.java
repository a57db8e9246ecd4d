package dev.ashlar.blob.simulation;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.fault.SimulationRuns;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Seeded runs of the whole engine: {@code -Dashlar.engine.runs=10000} sets how many, {@code
 * -Dashlar.engine.seed=N} replays one.
 */
class EngineSimulationTest {
  private static final int RUNS_DEFAULT = 150;

  /** Some faults are so rare that 150 runs may meet none of them. */
  private static final int ROUNDS_MAX = 10;

  @Test
  void everyChangeHappensWholeOrNotAtAll() {
    Map<String, Double> work = new TreeMap<>();
    for (int round = 0; round < ROUNDS_MAX && (round == 0 || work.containsValue(0.0)); round++) {
      int runs =
          SimulationRuns.repeat(
              "engine simulation", "ashlar.engine", RUNS_DEFAULT, seed -> run(seed, work));
      if (runs < RUNS_DEFAULT) {
        return;
      }
    }
    System.out.println("done: " + work);
    work.forEach((what, count) -> assertTrue(count > 0, what + " never happened"));
  }

  /** Its drive then has the shard as it was before, which nothing but a scrub can find. */
  @Test
  void aDriveMayLoseTheWriteOfAFold() throws Exception {
    new EngineSimulation(2_260_256_191_014L, PlantedBug.NONE).run();
  }

  /** With a disk that loses an acknowledged write in the midst of a change. */
  @Test
  void aDriveMayLoseAPieceOfAChange() throws Exception {
    new EngineSimulation(2_832_841_273_646L, PlantedBug.NONE).run();
  }

  /** Flipped bits in the record of a delete: the shard is there again, which takes space only. */
  @Test
  void aDriveMayLoseTheRecordOfADelete() throws Exception {
    new EngineSimulation(4_062_502_854_531L, PlantedBug.NONE).run();
  }

  /** Whoever copies says which blobs the version had, so it is no conflict. */
  @Test
  void aVersionThatWasMovedMayBeCopied() throws Exception {
    new EngineSimulation(11_506_851_267_896L, PlantedBug.NONE, true).run();
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("dev.ashlar.blob.simulation.PlantedBug#ofEngine")
  void plantedBugsAreFound(PlantedBug bug) {
    PlantedBugHunt.hunt(bug, RUNS_DEFAULT, seed -> new EngineSimulation(seed, bug).run());
  }

  private static void run(long seed, Map<String, Double> work) throws Exception {
    EngineSimulation simulation = new EngineSimulation(seed, PlantedBug.NONE, seed % 2 == 0);
    simulation.run();
    simulation.work().forEach((what, count) -> work.merge(what, count, Double::sum));
  }
}
