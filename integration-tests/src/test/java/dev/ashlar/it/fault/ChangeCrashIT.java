package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.DriveFolders;
import dev.ashlar.it.harness.Metrics;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Clients change objects in every way, the process is killed with SIGKILL at a random moment and
 * starts again: every change is there whole or not at all, and those acknowledged are there. At the
 * end all changes are folded, and the parity of every object is right. {@code
 * -Dashlar.crash.minutes} says how long, all configurations together; without it each is killed
 * once and one loss of drives is tried instead of all.
 */
class ChangeCrashIT {
  private static final int MINUTES = Integer.getInteger("ashlar.crash.minutes", 0);
  private static final int KILLS = 1;
  private static final int CONFIGURATIONS = 3;
  private static final int PARITY_SHARDS = 2;
  private static final Duration DEADLINE = Duration.ofSeconds(90);

  private final SplittableRandom random = new SplittableRandom(Seeds.seed("ChangeCrashIT"));

  @Test
  void oneMetadataFolder() throws Exception {
    crash("change-crash-1", 1, 0, 0);
  }

  @Test
  void fiveMetadataFolders() throws Exception {
    crash("change-crash-5", 5, 0, 0);
  }

  /** While the server is down: as many as leave k + 1 drives and a majority of the metadata. */
  @Test
  void oneDriveAndTwoMetadataFoldersDeleted() throws Exception {
    crash("change-crash-lost", 5, PARITY_SHARDS - 1, 2);
  }

  private void crash(String name, int metadataFolders, int lostDrives, int lostPeers)
      throws Exception {
    ServerSpec spec = ServerSpec.named(name).withMetadataFolders(metadataFolders);
    // Always the same folders: what was lost before repair exists is not whole again.
    int firstDrive = random.nextInt(spec.drives());
    int firstPeer = random.nextInt(metadataFolders);
    Instant end = Instant.now().plus(Duration.ofMinutes(MINUTES).dividedBy(CONFIGURATIONS));
    try (ServerProcess server = ServerProcess.start(spec)) {
      ChangeWorkload workload = new ChangeWorkload(server, bucket(server));
      workload.putFirst();
      int kills = 0;
      Map<String, byte[]> objects = Map.of();
      while (kills < KILLS || Instant.now().isBefore(end)) {
        workUntilKilled(server, workload);
        kills++;
        delete(server.driveFolders(), firstDrive, lostDrives);
        delete(server.metadataFolders(), firstPeer, lostPeers);
        server.start();
        objects = workload.checkAll(random);
        if (kills < KILLS || Instant.now().isBefore(end)) {
          workload.shorten();
        }
      }
      System.out.println(
          name
              + ": "
              + kills
              + " kills, "
              + workload.acknowledgements()
              + " acknowledged, "
              + workload.answers());
      awaitFolded(server);
      workload.compare(objects, "folded");
      List<Path> away = List.of();
      for (List<Path> loss : losses(server, PARITY_SHARDS - lostDrives)) {
        server.stop();
        away.forEach(DriveFolders::repair);
        loss.forEach(DriveFolders::replaceByFile);
        away = loss;
        server.start();
        workload.compare(objects, "without " + loss);
        assertEquals(0, Metrics.of(server).sum("ashlar_drive_corrupt_blocks_total"));
      }
    }
  }

  private static String bucket(ServerProcess server) {
    try (S3Client s3 = Clients.sync(server)) {
      return Buckets.create(s3, "changes");
    }
  }

  /** The moment is chosen by progress, not by time, so that slow machines test as much. */
  private void workUntilKilled(ServerProcess server, ChangeWorkload workload)
      throws InterruptedException {
    long enough = workload.acknowledgements() + random.nextInt(1, 400);
    Instant deadline = Instant.now().plus(DEADLINE);
    List<Thread> clients = workload.start(random.split());
    while (workload.acknowledgements() < enough
        && !workload.hasFailed()
        && Instant.now().isBefore(deadline)) {
      ServerProcess.pause(Duration.ofMillis(1));
    }
    ServerProcess.pause(Duration.ofNanos(random.nextInt(20_000_000)));
    server.kill();
    for (Thread client : clients) {
      client.join();
    }
    long missing = enough - workload.acknowledgements();
    assertTrue(
        missing <= 0 || workload.hasFailed(),
        missing + " changes were not acknowledged in " + DEADLINE);
  }

  private static void delete(List<Path> folders, int first, int count) {
    for (int i = 0; i < count; i++) {
      ServerProcess.deleteRecursively(folders.get((first + i) % folders.size()));
    }
  }

  private static void awaitFolded(ServerProcess server) {
    Instant deadline = Instant.now().plus(DEADLINE);
    while (Metrics.of(server).value("ashlar_blob_unfolded_changes") != 0) {
      assertTrue(
          Instant.now().isBefore(deadline),
          () -> Metrics.of(server).value("ashlar_blob_unfolded_changes") + " changes unfolded");
      ServerProcess.pause(Duration.ofMillis(200));
    }
  }

  /** All sets of so many drives; one of them when time is short. */
  private List<List<Path>> losses(ServerProcess server, int count) {
    List<Path> drives = server.driveFolders();
    List<List<Path>> losses = new ArrayList<>();
    for (int set = 0; set < 1 << drives.size(); set++) {
      if (Integer.bitCount(set) == count) {
        List<Path> loss = new ArrayList<>();
        for (int i = 0; i < drives.size(); i++) {
          if ((set >> i & 1) == 1) {
            loss.add(drives.get(i));
          }
        }
        losses.add(loss);
      }
    }
    return MINUTES > 0 ? losses : List.of(losses.get(random.nextInt(losses.size())));
  }
}
