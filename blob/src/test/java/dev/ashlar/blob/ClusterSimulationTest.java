package dev.ashlar.blob;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void plantedBugsAreFound(PlantedBug bug) {
    int runs = 1;
    while (runs <= RUNS_TO_FIND_MAX && !isFound(bug, runs)) {
      runs++;
    }
    System.out.println(bug + " was found by run " + runs);
    assertTrue(runs <= RUNS_TO_FIND_MAX, () -> bug + " was not found");
  }

  private static boolean isFound(PlantedBug bug, long seed) {
    try {
      new ClusterSimulation(seed, bug).run();
      return false;
    } catch (Exception | AssertionError e) {
      return true;
    }
  }
}
