package dev.ashlar.it.fault;

import static dev.ashlar.it.harness.S3Failures.assertFails;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.KeptObjects;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.Metrics;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Objects of all kinds are moved between three profiles while clients put, append, patch, copy and
 * delete, and the process is killed with SIGKILL meanwhile: all moves end, every object reads as
 * before, with its ETag and time, and in the end nothing is left on the drives.
 */
class ProfileMoveIT {
  private static final int DRIVES = 11;
  private static final int KILLS = 2;

  /** Of 2+1 and 512 MiB a drive: 400 MiB are stored, but three copies of them are not. */
  private static final int LARGE_OBJECTS = 200;

  private static final int LARGE_BYTES = 2 << 20;

  /** Of the garbage collector, and some. */
  private static final Duration COLLECTED = Duration.ofMinutes(4);

  private static final Duration MOVED = Duration.ofMinutes(5);

  /** Of each client while objects move: else they would have the processors. */
  private static final Duration THINKING = Duration.ofMillis(30);

  private final SplittableRandom random = new SplittableRandom(Seeds.seed("ProfileMoveIT"));

  @LongTest
  void objectsMoveThereAndBackUnderClientsAndKills() throws Exception {
    ServerSpec spec = new ServerSpec("profile-move", DRIVES, 1, "4+2", 16 << 10);
    try (ServerProcess server = ServerProcess.start(spec);
        S3Client s3 = Clients.sync(server)) {
      administer(server, "profile-add?target=HOT&by=1%2B2");
      administer(server, "profile-add?target=COLD&by=8%2B3");
      KeptObjects kept = KeptObjects.put(s3, random.split(), 150, 30);
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

  /** In the target, the objects take more than the drives have. What is deleted makes room. */
  @LongTest
  void aMoveWaitsForRoomThatDeletesMake() throws Exception {
    ServerSpec spec =
        new ServerSpec("profile-move-full", 3, 1, "2+1", 16 << 10)
            .withOptions("--drive-capacity", "512MiB");
    try (ServerProcess server = ServerProcess.start(spec);
        S3Client s3 = Clients.sync(server)) {
      administer(server, "profile-add?target=HOT&by=1%2B2");
      String bucket = Buckets.create(s3, "large");
      Map<String, Content> objects = new TreeMap<>();
      for (int i = 0; i < LARGE_OBJECTS; i++) {
        Content content = new Content(random.nextLong(), LARGE_BYTES);
        String key = "o" + i;
        s3.putObject(b -> b.bucket(bucket).key(key), RequestBody.fromBytes(content.bytes()));
        objects.put(key, content);
      }
      administer(server, "profile-move?target=s3://" + bucket + "/&by=HOT");
      Await.until(
          "the move waits",
          MOVED,
          () -> server.adminPage("profile-moves").contains("\"the drives are full\""));
      Await.until(
          "it is known to wait",
          () -> server.prometheus().contains("ashlar_profile_moves{state=\"full\"} 1.0"));
      read(s3, bucket, objects);
      for (int i = 0; i < LARGE_OBJECTS; i++) {
        String key = "o" + i;
        if (i % 3 > 0) {
          s3.deleteObject(b -> b.bucket(bucket).key(key));
          objects.remove(key);
          assertFails(404, () -> s3.headObject(b -> b.bucket(bucket).key(key)));
        }
      }
      Await.until("it goes on", MOVED, () -> !isMoving(server.adminPage("profile-moves")));
      assertTrue(server.adminPage("profile-moves").contains("\"done\""));
      assertFalse(server.adminPage("profile-moves").contains("could not"));
      read(s3, bucket, objects);
      s3.listObjectsV2Paginator(b -> b.bucket(bucket)).contents().stream()
          .forEach(object -> assertEquals("HOT", object.storageClassAsString()));
    }
  }

  private static void read(S3Client s3, String bucket, Map<String, Content> objects) {
    objects.forEach(
        (key, content) -> {
          byte[] read = s3.getObjectAsBytes(b -> b.bucket(bucket).key(key)).asByteArrayUnsafe();
          assertEquals(content.sha256(), Content.sha256(read), key);
        });
  }

  private static void administer(ServerProcess server, String what) {
    HttpResponse<String> answer = server.administer(what);
    assertEquals(200, answer.statusCode(), answer::body);
  }

  private void workWhileMoving(ServerProcess server, ChangeWorkload workload) throws Exception {
    List<Thread> clients = workload.start(random.split(), THINKING);
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
