package dev.ashlar.it.cost;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** An idle server stays within its budget of resident memory. */
class FootprintIT {
  private static final long IDLE_MIB_MAX = 400;

  @Test
  void idleWithOneMetadataFolder() {
    assertIdle(1);
  }

  @Test
  void idleWithFiveMetadataFolders() {
    assertIdle(5);
  }

  private static void assertIdle(int metadataFolders) {
    ServerSpec spec = ServerSpec.named("idle-" + metadataFolders).withLongLife();
    try (ServerProcess server = ServerProcess.start(spec.withMetadataFolders(metadataFolders))) {
      ServerProcess.pause(Duration.ofSeconds(3)); // until what starts lazily has started
      long mib = server.residentBytes() >> 20;
      System.out.println(spec.name() + ": " + mib + " MiB resident");
      assertTrue(mib < IDLE_MIB_MAX, mib + " MiB resident when idle");
    }
  }
}
