package dev.ashlar.storage.drive;

import dev.ashlar.protocol.memory.SlabPool;
import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Thousands of seeded runs. {@code -Dashlar.sim.runs=10000} sets how many of each kind, {@code
 * -Dashlar.sim.seed=N} replays one.
 */
class DriveSimulationTest {
  private static final int RUNS_DEFAULT = 1000;

  @ParameterizedTest
  @EnumSource
  void nothingAcknowledgedIsEverLost(DriveSimulation.Fault fault) throws IOException {
    SlabPool slabs = new SlabPool();
    Long replay = Long.getLong("ashlar.sim.seed");
    if (replay != null) {
      run(fault, replay, slabs);
      return;
    }
    long first = System.nanoTime();
    int runs = Integer.getInteger("ashlar.sim.runs", RUNS_DEFAULT);
    for (int i = 0; i < runs; i++) {
      run(fault, first + i, slabs);
    }
  }

  private static void run(DriveSimulation.Fault fault, long seed, SlabPool slabs)
      throws IOException {
    try {
      new DriveSimulation(seed, fault, slabs).run();
    } catch (RuntimeException | AssertionError | IOException e) {
      System.err.println("failed: " + fault + ", replay with -Dashlar.sim.seed=" + seed);
      throw e;
    }
  }
}
