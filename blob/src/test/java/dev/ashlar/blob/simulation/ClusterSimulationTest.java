package dev.ashlar.blob.simulation;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.fault.SimulationRuns;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Seeded runs of the cluster's protocol: {@code -Dashlar.cluster.sim.runs=100000} sets how many,
 * {@code -Dashlar.cluster.sim.seed=N} replays one.
 */
class ClusterSimulationTest {
  private static final int RUNS_DEFAULT = 600;

  private static final List<String> WORK =
      List.of(
          "profiles added",
          "profiles removed",
          "defaults set",
          "versions moved",
          "samples of parity compared");

  /** So many runs, at most, does each planted bug need to be found. */
  private static final int RUNS_TO_FIND_MAX = 600;

  @Test
  void acknowledgedDataIsKeptAndReadCorrectly() {
    Map<String, Double> work = new TreeMap<>();
    int runs =
        SimulationRuns.repeat(
            "cluster simulation", "ashlar.cluster.sim", RUNS_DEFAULT, seed -> run(seed, work));
    System.out.println("done: " + work);
    if (runs >= RUNS_DEFAULT) {
      WORK.forEach(what -> assertTrue(work.getOrDefault(what, 0.0) > 0, what + " never happened"));
    }
  }

  /** Every other seed has several profiles. */
  private static void run(long seed, Map<String, Double> work) throws Exception {
    ClusterSimulation simulation = new ClusterSimulation(seed, PlantedBug.NONE, seed % 2 == 0);
    simulation.run();
    simulation.work().forEach((what, count) -> work.merge(what, count, Double::sum));
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("dev.ashlar.blob.simulation.PlantedBug#ofCluster")
  void plantedBugsAreFound(PlantedBug bug) {
    PlantedBugHunt.hunt(bug, RUNS_TO_FIND_MAX, seed -> new ClusterSimulation(seed, bug).run());
  }
}
