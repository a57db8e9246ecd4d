package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.fault.SimulationRuns;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.storage.drive.index.MemoryShardIndex;
import dev.ashlar.storage.drive.index.RocksIndexCrashes;
import dev.ashlar.storage.drive.index.SimulatedIndex;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Thousands of seeded runs. {@code -Dashlar.sim.runs=10000} sets how many of each kind, {@code
 * -Dashlar.sim.seed=N} replays one.
 */
class DriveSimulationTest {
  private static final int RUNS_DEFAULT = 100;
  private static final int ROCKS_RUNS_DEFAULT = 5;

  /** So many runs, at most, does each planted bug need to be found. */
  private static final int RUNS_TO_FIND_MAX = 250;

  @ParameterizedTest
  @EnumSource
  void nothingAcknowledgedIsEverLost(DriveSimulation.Fault fault) {
    SlabPool slabs = new SlabPool();
    SimulationRuns.repeat(
        "drive simulation, " + fault,
        "ashlar.sim",
        RUNS_DEFAULT,
        seed -> run(fault, seed, slabs, new MemoryShardIndex()));
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

  @Tag("slow")
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void plantedBugsAreFound(BuggyFiles.Bug bug) {
    int runs = 1;
    while (runs <= RUNS_TO_FIND_MAX && !isFound(bug, runs)) {
      runs++;
    }
    assertTrue(runs <= RUNS_TO_FIND_MAX, bug + " was not found in " + RUNS_TO_FIND_MAX + " runs");
    System.out.println(bug + " was found within " + runs + " runs");
  }

  private static boolean isFound(BuggyFiles.Bug bug, long seed) {
    try {
      new DriveSimulation(seed, bug.fault(), bug, new SlabPool(), new MemoryShardIndex()).run();
      return false;
    } catch (RuntimeException | AssertionError | IOException e) {
      return true;
    }
  }

  private static void run(
      DriveSimulation.Fault fault, long seed, SlabPool slabs, SimulatedIndex index)
      throws IOException {
    try {
      new DriveSimulation(seed, fault, BuggyFiles.Bug.NONE, slabs, index).run();
    } catch (RuntimeException | AssertionError | IOException e) {
      System.err.println("failed: " + fault + ", replay with -Dashlar.sim.seed=" + seed);
      throw e;
    }
  }
}
