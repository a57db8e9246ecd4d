package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.DriveFolders;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.Metrics;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Clients change objects in every way, half of which are encrypted, the process is killed with
 * SIGKILL at a random moment and starts again: every change is there whole or not at all, and those
 * acknowledged are there. At the end all changes are folded, and the parity of every object is
 * right. {@code -Dashlar.crash.minutes} says how long, all configurations together, and has more
 * layouts; without it each is killed once and one loss of drives is tried instead of many.
 */
class ChangeCrashIT {
  private static final int MINUTES = Integer.getInteger("ashlar.crash.minutes", 0);
  private static final int KILLS = 1;

  /** Each of them has as many drives as shards, but for the one with more. */
  private static final List<ServerSpec> OTHER_LAYOUTS =
      List.of(
          new ServerSpec("change-crash-replicas", 3, 3, "1+2", 16 << 10),
          new ServerSpec("change-crash-small", 3, 1, "2+1", 4096),
          new ServerSpec("change-crash-half", 4, 3, "2+2", 64 << 10),
          new ServerSpec("change-crash-spread", 9, 1, "4+2", 16 << 10),
          new ServerSpec("change-crash-wide", 11, 1, "8+3", 16 << 10),
          new ServerSpec("change-crash-classic", 6, 1, "4+2,optimizations=off", 4096));

  private static final int CONFIGURATIONS = 3 + OTHER_LAYOUTS.size();

  /** So many sets of drives are lost in the end, where there is time. */
  private static final int LOSSES_MAX = 15;

  private final SplittableRandom random = new SplittableRandom(Seeds.seed("ChangeCrashIT"));

  @LongTest
  void oneMetadataFolder() throws Exception {
    crash(ServerSpec.named("change-crash-1"), 0, 0);
  }

  @LongTest
  void fiveMetadataFolders() throws Exception {
    crash(ServerSpec.named("change-crash-5").withMetadataFolders(5), 0, 0);
  }

  /** While the server is down: as many as leave k + 1 drives and a majority of the metadata. */
  @Test
  void oneDriveAndTwoMetadataFoldersDeleted() throws Exception {
    ServerSpec spec = ServerSpec.named("change-crash-lost").withMetadataFolders(5);
    crash(spec, spec.parityShards() - 1, 2);
  }

  @ParameterizedTest
  @FieldSource("OTHER_LAYOUTS")
  @EnabledIfSystemProperty(named = "ashlar.crash.minutes", matches = "[1-9]\\d*")
  void otherLayouts(ServerSpec spec) throws Exception {
    crash(spec, 0, 0);
  }

  private void crash(ServerSpec spec, int lostDrives, int lostPeers) throws Exception {
    // Always the same folders: what was lost before repair exists is not whole again.
    int firstDrive = random.nextInt(spec.drives());
    int firstPeer = random.nextInt(spec.metadataFolders());
    Instant end = Instant.now().plus(Duration.ofMinutes(MINUTES).dividedBy(CONFIGURATIONS));
    try (ServerProcess server = ServerProcess.start(spec)) {
      ChangeWorkload workload = ChangeWorkload.withEncryption(server, bucket(server));
      workload.putFirst();
      int kills = 0;
      Map<String, byte[]> objects = Map.of();
      while (kills < KILLS || Instant.now().isBefore(end)) {
        CrashRound.workUntil(workload, random, server::kill);
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
          spec.name()
              + ": "
              + kills
              + " kills, "
              + workload.acknowledgements()
              + " acknowledged, "
              + workload.answers());
      CrashRound.awaitFolded(server);
      workload.compare(objects, "folded");
      List<Path> away = List.of();
      for (List<Path> loss : losses(server, spec.parityShards() - lostDrives)) {
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

  private static void delete(List<Path> folders, int first, int count) {
    for (int i = 0; i < count; i++) {
      ServerProcess.deleteRecursively(folders.get((first + i) % folders.size()));
    }
  }

  /** Sets of so many drives; one of them when time is short. */
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
    Collections.shuffle(losses, new Random(random.nextLong()));
    return losses.subList(0, Math.min(losses.size(), MINUTES > 0 ? LOSSES_MAX : 1));
  }
}
