package dev.ashlar.blob;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Seeded runs of the cluster's protocol: {@code -Dashlar.cluster.sim.runs=100000} sets how many,
 * {@code -Dashlar.cluster.sim.seed=N} replays one.
 */
class ClusterSimulationTest {
  private static final int RUNS_DEFAULT = 2000;

  /** So many runs, at most, does each planted bug need to be found. */
  private static final int RUNS_TO_FIND_MAX = 600;

  @Test
  void whatIsAcknowledgedStaysAndIsReadRight() {
    Long replay = Long.getLong("ashlar.cluster.sim.seed");
    if (replay != null) {
      run(replay);
      return;
    }
    long first = System.nanoTime();
    int runs = Integer.getInteger("ashlar.cluster.sim.runs", RUNS_DEFAULT);
    System.out.println("cluster simulation: " + runs + " runs from seed " + first);
    for (int i = 0; i < runs; i++) {
      run(first + i);
    }
  }

  private static void run(long seed) {
    try {
      new ClusterSimulation(seed, PlantedBug.NONE).run();
    } catch (Exception | AssertionError e) {
      throw new AssertionError("replay with -Dashlar.cluster.sim.seed=" + seed, e);
    }
  }

  @ParameterizedTest
  @MethodSource("dev.ashlar.blob.PlantedBug#ofCluster")
  void plantedBugsAreFound(PlantedBug bug) {
    PlantedBugHunt.hunt(bug, RUNS_TO_FIND_MAX, seed -> new ClusterSimulation(seed, bug).run());
  }
}
