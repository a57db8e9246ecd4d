package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Metrics;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Objects of all kinds are moved between three profiles while clients put, append, patch, copy and
 * delete, and the process is killed with SIGKILL meanwhile: all moves end, every object reads as
 * before, with its ETag and time, and in the end nothing is left on the drives.
 */
class ProfileMoveIT {
  private static final int DRIVES = 11;
  private static final int KILLS = 2;

  /** Of the garbage collector, and some. */
  private static final Duration COLLECTED = Duration.ofMinutes(4);

  private static final Duration MOVED = Duration.ofMinutes(5);

  private final SplittableRandom random = new SplittableRandom(Seeds.seed("ProfileMoveIT"));

  @Test
  void objectsMoveThereAndBackUnderClientsAndKills() throws Exception {
    ServerSpec spec = new ServerSpec("profile-move", DRIVES, 1, "4+2", 16 << 10);
    try (ServerProcess server = ServerProcess.start(spec);
        S3Client s3 = Clients.sync(server)) {
      administer(server, "profile-add?target=HOT&by=1%2B2");
      administer(server, "profile-add?target=COLD&by=8%2B3");
      KeptObjects kept = KeptObjects.put(s3, random.split());
      String changed = Buckets.create(s3, "changes");
      ChangeWorkload workload = new ChangeWorkload(server, changed);
      workload.putFirst();
      int round = 0;
      for (String target : List.of("COLD", "HOT", "STANDARD")) {
        for (String bucket : kept.buckets()) {
          administer(server, "profile-move?target=s3://" + bucket + "&by=" + target);
        }
        administer(server, "profile-move?target=s3://" + changed + "/&by=" + target);
        if (round++ < KILLS) {
          CrashRound.workUntil(workload, random, server::kill);
          server.start();
          workload.checkAll(random);
        }
        workWhileMoving(server, workload);
        workload.checkAll(random);
        kept.check(target);
      }
      System.out.println("answers to clients: " + workload.answers());
      CrashRound.awaitFolded(server);
      assertFalse(server.adminPage("profile-moves").contains("could not"));
      long moved = Metrics.of(server).sum("ashlar_profile_moved_versions_total");
      assertTrue(moved >= kept.versions(), () -> moved + " versions were moved");
      kept.delete();
      deleteAll(s3, changed);
      assertNothingIsLeft(server);
    }
  }

  private static void administer(ServerProcess server, String what) {
    HttpResponse<String> answer = server.administer(what);
    assertEquals(200, answer.statusCode(), answer::body);
  }

  private void workWhileMoving(ServerProcess server, ChangeWorkload workload) throws Exception {
    List<Thread> clients = workload.start(random.split());
    Await.until(
        "all is moved",
        MOVED,
        () -> workload.hasFailed() || !isMoving(server.adminPage("profile-moves")));
    workload.end();
    for (Thread client : clients) {
      client.join();
    }
  }

  private static boolean isMoving(String page) {
    return page.contains("\"waiting\"")
        || page.contains("\"counting\"")
        || page.contains("\"running\"")
        || page.contains("\"full\"");
  }

  private static void deleteAll(S3Client s3, String bucket) {
    s3.listObjectsV2Paginator(b -> b.bucket(bucket)).contents().stream()
        .forEach(object -> s3.deleteObject(b -> b.bucket(bucket).key(object.key())));
  }

  /** What killed processes have left is removed at the start, what was deleted by the collector. */
  private static void assertNothingIsLeft(ServerProcess server) throws Exception {
    server.stop();
    server.start();
    Await.until(
        "the drives are empty",
        COLLECTED,
        () -> Metrics.of(server).sum("ashlar_drive_live_bytes") == 0);
  }
}
