package dev.ashlar.it.linear;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.RawConnection;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.BucketVersioningStatus;

/**
 * What concurrent clients of one key see can have happened one after the other. {@code
 * -Dashlar.linear.histories} and {@code -Dashlar.linear.kills} say how often.
 */
class LinearizabilityIT {
  private static final int HISTORIES = Integer.getInteger("ashlar.linear.histories", 12);
  private static final int KILLS = Integer.getInteger("ashlar.linear.kills", 1);
  private static final int CLIENTS = 6;
  private static final int OPERATIONS = 8;

  private final SplittableRandom random = new SplittableRandom(Seeds.seed("LinearizabilityIT"));
  private final ServerProcess server =
      ServerProcess.start(new ServerSpec("linear", 4, 1, "2+2", 4096));
  private final String bucket = bucket();

  private String bucket() {
    try (S3Client s3 = Clients.sync(server)) {
      return Buckets.create(s3, "linear");
    }
  }

  @AfterAll
  void close() {
    server.close();
  }

  @Test
  void concurrentHistories() throws Exception {
    int conflicts = 0;
    for (int i = 0; i < HISTORIES; i++) {
      HistoryRecorder recorder = recorder("calm-" + i);
      recorder.start(CLIENTS, OPERATIONS);
      recorder.join();
      conflicts += (int) check(recorder);
    }
    System.out.println(HISTORIES + " histories, " + conflicts + " refused for another's change");
  }

  /** What was on its way then has no answer: it happened, whole, or not. */
  @Test
  void historiesWithAKilledServer() throws Exception {
    for (int i = 0; i < KILLS; i++) {
      HistoryRecorder recorder = recorder("kill-" + i);
      recorder.start(CLIENTS, OPERATIONS);
      recorder.awaitAnswers(CLIENTS + random.nextInt(CLIENTS * OPERATIONS / 2));
      server.kill();
      recorder.join();
      server.start();
      recorder.start(CLIENTS, 2);
      recorder.join();
      check(recorder);
    }
  }

  @Test
  void concurrentHistoriesOfVersions() throws Exception {
    String versions = versionBucket();
    for (int i = 0; i < HISTORIES; i++) {
      VersionHistory history = versionHistory(versions, "calm-" + i);
      history.start(CLIENTS, OPERATIONS);
      history.join();
      history.readAll();
      history.check();
    }
    System.out.println(HISTORIES + " histories of versions");
  }

  @Test
  void historiesOfVersionsWithAKilledServer() throws Exception {
    String versions = versionBucket();
    for (int i = 0; i < KILLS; i++) {
      VersionHistory history = versionHistory(versions, "kill-" + i);
      history.start(CLIENTS, OPERATIONS);
      history.awaitAnswers(CLIENTS + random.nextInt(CLIENTS * OPERATIONS / 2));
      server.kill();
      history.join();
      server.start();
      history.start(CLIENTS, 2);
      history.join();
      history.readAll();
      history.check();
    }
  }

  private String versionBucket() {
    try (S3Client s3 = Clients.sync(server)) {
      String name = Buckets.create(s3, "versions");
      s3.putBucketVersioning(
          b ->
              b.bucket(name)
                  .versioningConfiguration(v -> v.status(BucketVersioningStatus.ENABLED)));
      return name;
    }
  }

  private VersionHistory versionHistory(String versions, String key) {
    return new VersionHistory(
        () -> new ChangeClient(new RawConnection(server), versions), key, random.split());
  }

  private HistoryRecorder recorder(String key) {
    return new HistoryRecorder(
        () -> new ChangeClient(new RawConnection(server), bucket),
        HistoryRecorder.Pace.AT_ONCE,
        key,
        random.split());
  }

  /** Returns how many were refused because of others. */
  private static long check(HistoryRecorder recorder) {
    recorder.read(Duration.ZERO);
    recorder.check();
    List<Operation<ObjectCall, ObjectReply>> history = recorder.history();
    List<Operation<ObjectCall, ObjectReply>> conflicts =
        history.stream()
            .filter(each -> each.output() != null && each.output().isConflict())
            .toList();
    for (Operation<ObjectCall, ObjectReply> conflict : conflicts) {
      assertTrue(
          history.stream().anyMatch(other -> !other.equals(conflict) && overlap(other, conflict)),
          () -> "a conflict with nobody: " + conflict + recorder.describe());
    }
    return conflicts.size();
  }

  private static boolean overlap(
      Operation<ObjectCall, ObjectReply> write, Operation<ObjectCall, ObjectReply> conflict) {
    return write.input().isWrite()
        && write.calledAt() <= conflict.returnedAt()
        && (write.output() == null || write.returnedAt() >= conflict.calledAt());
  }
}
