package dev.ashlar.blob.simulation;

import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Runs a simulation with a planted bug until it fails. {@code -Dashlar.planted.rounds=20} repeats
 * that with other seeds.
 */
final class PlantedBugHunt {
  private static final long SEEDS_PER_ROUND = 1_000_000;

  private PlantedBugHunt() {}

  /** A simulation with the bug. */
  interface Simulation {
    void run(long seed) throws Exception;
  }

  static void hunt(PlantedBug bug, int runsMax, Simulation simulation) {
    int rounds = Integer.getInteger("ashlar.planted.rounds", 1);
    int most = 0;
    for (int round = 0; round < rounds; round++) {
      int runs = 1;
      while (runs <= runsMax && !isFound(simulation, round * SEEDS_PER_ROUND + runs)) {
        runs++;
      }
      most = Math.max(most, runs);
      assertTrue(runs <= runsMax, bug + " was not found in " + runsMax + " runs, round " + round);
    }
    System.out.println(bug + " was found within " + most + " runs in each of " + rounds);
  }

  private static boolean isFound(Simulation simulation, long seed) {
    try {
      simulation.run(seed);
      return false;
    } catch (Exception | AssertionError e) {
      return true;
    }
  }
}
