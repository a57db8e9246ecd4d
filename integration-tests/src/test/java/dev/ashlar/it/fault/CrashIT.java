package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Clients write, the process is killed with SIGKILL at a random moment, and starts again:
 * everything acknowledged is there, bit for bit, and nothing is there by half. {@code
 * -Dashlar.crash.loops} says how often (1), {@code -Dashlar.crash.minutes} for how long at least,
 * all configurations together.
 */
class CrashIT {
  private static final int LOOPS = Integer.getInteger("ashlar.crash.loops", 1);
  private static final int MINUTES = Integer.getInteger("ashlar.crash.minutes", 0);
  private static final int CONFIGURATIONS = 3;
  private static final int LOST = 2; // m of the default profile
  private static final Duration WRITE_DEADLINE = Duration.ofSeconds(90);

  @LongTest
  void oneMetadataFolder() throws Exception {
    crash("crash-1", 1, false);
  }

  @LongTest
  void fiveMetadataFolders() throws Exception {
    crash("crash-5", 5, false);
  }

  /** While the server is down, m drive folders and m metadata folders are deleted. */
  @Test
  void fiveMetadataFoldersOfWhichTwoAreLostWithTwoDrives() throws Exception {
    crash("crash-lost", 5, true);
  }

  private static void crash(String name, int metadataFolders, boolean lose) throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.seed(name));
    ServerSpec spec = ServerSpec.named(name).withMetadataFolders(metadataFolders);
    // Always the same folders: what was lost before repair exists is not whole again.
    int firstLostDrive = random.nextInt(spec.drives());
    int firstLostPeer = random.nextInt(metadataFolders);
    try (ServerProcess server = ServerProcess.start(spec);
        S3Client s3 = Clients.sync(server)) {
      CrashWorkload workload = new CrashWorkload(s3, Buckets.create(s3, "crash"));
      workload.putSources(random);
      Instant end = Instant.now().plus(Duration.ofMinutes(MINUTES).dividedBy(CONFIGURATIONS));
      for (int loop = 1; loop <= LOOPS || Instant.now().isBefore(end); loop++) {
        writeUntilKilled(server, workload, random);
        if (lose) {
          delete(server.driveFolders(), firstLostDrive);
          delete(server.metadataFolders(), firstLostPeer);
        }
        server.start();
        workload.checkAll();
      }
    }
  }

  /** The moment is chosen by progress, not by time, so that slow machines test as much. */
  private static void writeUntilKilled(
      ServerProcess server, CrashWorkload workload, SplittableRandom random) throws Exception {
    Ledger<?> ledger = workload.ledger();
    long enough = ledger.acknowledgements() + random.nextInt(1, 150);
    Instant deadline = Instant.now().plus(WRITE_DEADLINE);
    List<Thread> clients = workload.start(random.split());
    while (ledger.acknowledgements() < enough && Instant.now().isBefore(deadline)) {
      ServerProcess.pause(Duration.ofMillis(1));
    }
    ServerProcess.pause(Duration.ofNanos(random.nextInt(5_000_000)));
    server.kill();
    for (Thread client : clients) {
      client.join();
    }
    long missing = enough - ledger.acknowledgements();
    assertTrue(missing <= 0, missing + " writes were not acknowledged in " + WRITE_DEADLINE);
  }

  private static void delete(List<Path> folders, int first) {
    for (int i = 0; i < LOST; i++) {
      ServerProcess.deleteRecursively(folders.get((first + i) % folders.size()));
    }
  }
}
