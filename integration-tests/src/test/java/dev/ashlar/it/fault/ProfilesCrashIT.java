package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.DriveFolders;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.Metrics;
import dev.ashlar.it.harness.Scrub;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.SegmentBlock;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * A store with profiles 4+2, 1+2 and 8+3: clients put, upload in parts, copy from one storage class
 * to another, append and patch, and the process is killed with SIGKILL at a random moment.
 * Everything acknowledged is there, whatever its class. What then is damaged or lost is found and
 * repaired. {@code -Dashlar.crash.minutes} says for how long clients write at least, both tests
 * together.
 */
class ProfilesCrashIT {
  private static final ServerSpec SPEC = new ServerSpec("profiles-crash", 12, 1, "4+2", 16 << 10);

  /** Of the profile that has least. */
  private static final int PARITY_SHARDS = 2;

  private static final List<String> CLASSES = List.of("STANDARD", "HOT", "COLD");
  private static final int MINUTES = Integer.getInteger("ashlar.crash.minutes", 0);
  private static final int TESTS = 2;
  private static final int KILLS = 2;
  private static final int KILLS_LONG = 6;

  /** What is deleted stays for a minute. */
  private static final Duration COLLECTED = Duration.ofMinutes(4);

  private final SplittableRandom random = new SplittableRandom(Seeds.seed("ProfilesCrashIT"));
  private ServerProcess server;
  private Scrub scrub;
  private S3Client s3;
  private ChangeWorkload changes;
  private CrashWorkload wholes;
  private String changed;
  private String whole;
  private long emptyBytes;

  @BeforeEach
  void start() throws IOException {
    server = ServerProcess.start(SPEC);
    scrub = new Scrub(server);
    emptyBytes = liveBytes();
    s3 = Clients.sync(server);
    requireDone("profile-add?target=HOT&by=1%2B2");
    requireDone("profile-add?target=COLD&by=8%2B3");
    changed = Buckets.create(s3, "changes");
    changes = new ChangeWorkload(server, changed, ChangeWorkload.Refusals.NONE, CLASSES);
    changes.putFirst();
    whole = Buckets.create(s3, "wholes");
    wholes = new CrashWorkload(s3, whole, CLASSES);
    wholes.putSources(random);
  }

  @AfterEach
  void close() {
    s3.close();
    server.close();
  }

  @LongTest
  void whatKillsDamageAndLossLeaveIsWholeAgain() throws Exception {
    Map<String, byte[]> objects = writeAndKill(KILLS);
    CrashRound.awaitFolded(server);
    List<Path> drives = new ArrayList<>(server.driveFolders());
    damage(drives.remove(random.nextInt(drives.size())));
    compare(objects, "mended");
    lose(drives.remove(random.nextInt(drives.size())));
    compare(objects, "rebuilt");
    scrub.run(); // of what the kills had left, the start may not have removed all before
    scrub.run();
    assertEquals(0, scrub.orphans(), "shards that nobody knows");
    CrashRound.awaitNothingOwed(server);
    readWithoutSome(drives, objects);
  }

  /** No damage, and then no blob of any profile, in metadata or on a drive. */
  @LongTest
  void nothingIsLeftOfKillsAndDamage() throws Exception {
    Map<String, byte[]> objects = writeAndKill(KILLS_LONG);
    CrashRound.awaitFolded(server);
    damage(server.driveFolders().get(random.nextInt(SPEC.drives())));
    compare(objects, "mended");
    Await.until("deleted blobs are gone, which are not mended", COLLECTED, () -> scrub.run() == 0);
    for (String bucket : List.of(changed, whole)) {
      s3.listObjectsV2Paginator(b -> b.bucket(bucket))
          .contents()
          .forEach(object -> s3.deleteObject(b -> b.bucket(bucket).key(object.key())));
      s3.listMultipartUploadsPaginator(b -> b.bucket(bucket))
          .uploads()
          .forEach(
              upload ->
                  s3.abortMultipartUpload(
                      b -> b.bucket(bucket).key(upload.key()).uploadId(upload.uploadId())));
    }
    for (String name : List.of("HOT", "COLD")) {
      Await.until(
          name + " is removed",
          COLLECTED,
          () -> server.administer("profile-remove?target=" + name).statusCode() == 200);
    }
    Await.until("the drives are empty", COLLECTED, () -> liveBytes() <= emptyBytes);
  }

  /** Returns what is there at the end. */
  private Map<String, byte[]> writeAndKill(int killsMin) throws Exception {
    Instant end = Instant.now().plus(Duration.ofMinutes(MINUTES).dividedBy(TESTS));
    Map<String, byte[]> objects = Map.of();
    int kills = 0;
    while (kills < killsMin || Instant.now().isBefore(end)) {
      changes.shorten();
      List<Thread> clients = wholes.start(random.split());
      CrashRound.workUntil(changes, random, server::kill);
      kills++;
      for (Thread client : clients) {
        client.join();
      }
      server.start();
      objects = changes.checkAll(random);
      wholes.checkAll();
    }
    System.out.printf(
        "%s: %d kills, %d changes acknowledged, %s, and %d whole objects%n",
        SPEC.name(),
        kills,
        changes.acknowledgements(),
        changes.answers(),
        wholes.ledger().acknowledgements());
    for (String name : CLASSES) {
      HttpResponse<String> refused = server.administer("profile-remove?target=" + name);
      assertTrue(refused.body().contains("the profile is in use"), refused.body());
    }
    return objects;
  }

  private void compare(Map<String, byte[]> objects, String when) throws IOException {
    changes.compare(objects, when);
    wholes.checkAll();
  }

  /** A bit in one of eight blocks, while the server runs. */
  private void damage(Path drive) throws Exception {
    System.out.println("damaged: " + drive);
    for (SegmentBlock block : SegmentBlock.of(List.of(drive))) {
      if (random.nextInt(8) == 0) {
        block.flipBit(random);
      }
    }
    assertTrue(scrub.run() > 0, "damaged blocks are found");
    CrashRound.awaitNothingOwed(server);
    assertTrue(Metrics.of(server).sum("ashlar_repair_rebuilt_shards_total") > 0);
  }

  /** An empty drive is in its place. */
  private void lose(Path drive) throws Exception {
    System.out.println("lost: " + drive);
    server.stop();
    ServerProcess.deleteRecursively(drive);
    server.start();
    CrashRound.awaitNothingOwed(server);
  }

  /** As many drives are away as every profile survives, so what was repaired is needed. */
  private void readWithoutSome(List<Path> drives, Map<String, byte[]> objects) throws IOException {
    server.stop();
    for (int i = 0; i < PARITY_SHARDS; i++) {
      Path away = drives.remove(random.nextInt(drives.size()));
      System.out.println("away: " + away);
      DriveFolders.replaceByFile(away);
    }
    server.start();
    compare(objects, "without two drives");
    assertEquals(0, Metrics.of(server).sum("ashlar_drive_corrupt_blocks_total"));
  }

  private long liveBytes() {
    return Metrics.of(server).sum("ashlar_drive_live_bytes");
  }

  private void requireDone(String what) {
    HttpResponse<String> answer = server.administer(what);
    assertEquals(200, answer.statusCode(), answer.body());
  }
}
