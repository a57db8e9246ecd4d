package dev.ashlar.storage.drive;

import dev.ashlar.protocol.memory.SlabPool;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Thousands of seeded runs. {@code -Dashlar.sim.runs=10000} sets how many of each kind, {@code
 * -Dashlar.sim.seed=N} replays one.
 */
class DriveSimulationTest {
  private static final int RUNS_DEFAULT = 400;
  private static final int ROCKS_RUNS_DEFAULT = 8;

  @ParameterizedTest
  @EnumSource
  void nothingAcknowledgedIsEverLost(DriveSimulation.Fault fault) throws IOException {
    SlabPool slabs = new SlabPool();
    Long replay = Long.getLong("ashlar.sim.seed");
    if (replay != null) {
      run(fault, replay, slabs, new MemoryShardIndex());
      return;
    }
    long first = System.nanoTime();
    int runs = Integer.getInteger("ashlar.sim.runs", RUNS_DEFAULT);
    for (int i = 0; i < runs; i++) {
      run(fault, first + i, slabs, new MemoryShardIndex());
    }
  }

  /** Fewer runs, with the index that serves: what RocksDB had not flushed is lost. */
  @ParameterizedTest
  @EnumSource
  void norWithTheRealIndex(DriveSimulation.Fault fault, @TempDir Path folder) throws IOException {
    SlabPool slabs = new SlabPool();
    long first = Long.getLong("ashlar.sim.seed", System.nanoTime());
    int runs = Integer.getInteger("ashlar.sim.rocks.runs", ROCKS_RUNS_DEFAULT);
    try (DriveResources resources = TestDrives.resources(slabs)) {
      for (int i = 0; i < runs; i++) {
        try (RocksIndexCrashes index =
            new RocksIndexCrashes(folder.resolve("run-" + i), resources)) {
          run(fault, first + i, slabs, index);
        }
      }
    }
  }

  private static void run(
      DriveSimulation.Fault fault, long seed, SlabPool slabs, SimulatedIndex index)
      throws IOException {
    try {
      new DriveSimulation(seed, fault, slabs, index).run();
    } catch (RuntimeException | AssertionError | IOException e) {
      System.err.println("failed: " + fault + ", replay with -Dashlar.sim.seed=" + seed);
      throw e;
    }
  }
}
