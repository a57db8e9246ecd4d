package dev.ashlar.blob.simulation;

import dev.ashlar.protocol.fault.SimulationRuns;
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

  /** So many runs, at most, does each planted bug need to be found. */
  private static final int RUNS_TO_FIND_MAX = 600;

  @Test
  void acknowledgedDataIsKeptAndReadCorrectly() {
    SimulationRuns.repeat(
        "cluster simulation",
        "ashlar.cluster.sim",
        RUNS_DEFAULT,
        seed -> new ClusterSimulation(seed, PlantedBug.NONE).run());
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("dev.ashlar.blob.simulation.PlantedBug#ofCluster")
  void plantedBugsAreFound(PlantedBug bug) {
    PlantedBugHunt.hunt(bug, RUNS_TO_FIND_MAX, seed -> new ClusterSimulation(seed, bug).run());
  }
}
