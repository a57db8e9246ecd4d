package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Clients write versions, markers, locks and tags, also up to a quota, and the process is killed
 * with SIGKILL at a random moment and starts again: all that was acknowledged is there, nothing
 * locked was deleted, and the usage is what is stored, to the byte. {@code -Dashlar.crash.minutes}
 * says for how long at least, all configurations together.
 */
class VersionCrashIT {
  private static final int MINUTES = Integer.getInteger("ashlar.crash.minutes", 0);
  private static final int KILLS = 1;
  private static final int CONFIGURATIONS = 2;
  private static final int CHANGES_MAX = MINUTES > 0 ? 400 : 150;

  private final SplittableRandom random = new SplittableRandom(Seeds.seed("VersionCrashIT"));

  @LongTest
  void oneMetadataFolder() throws Exception {
    crash(ServerSpec.named("version-crash-1"));
  }

  @Test
  void threeMetadataFolders() throws Exception {
    crash(ServerSpec.named("version-crash-3").withMetadataFolders(3));
  }

  private void crash(ServerSpec spec) throws Exception {
    Instant end = Instant.now().plus(Duration.ofMinutes(MINUTES).dividedBy(CONFIGURATIONS));
    try (ServerProcess server = ServerProcess.start(spec);
        S3Client s3 = Clients.sync(server)) {
      List<CrashClients.Workload> workloads =
          List.of(versions(server, s3), new LockWorkload(s3, lockBucket(s3)));
      CrashClients clients = new CrashClients(workloads);
      int kills = 0;
      while (kills < KILLS || Instant.now().isBefore(end)) {
        clients.workUntil(random, CHANGES_MAX, server::kill);
        kills++;
        server.start();
        checkAll(server, workloads);
        workloads.forEach(CrashClients.Workload::tidyUp);
        checkAll(server, workloads);
      }
      long acknowledged =
          workloads.stream().mapToLong(CrashClients.Workload::acknowledgements).sum();
      System.out.println(spec.name() + ": " + kills + " kills, " + acknowledged + " acknowledged");
    }
  }

  /** So small that it is reached. */
  private VersionWorkload versions(ServerProcess server, S3Client s3) {
    String bucket = Buckets.create(s3, "versions");
    VersionWorkload workload = new VersionWorkload(s3, bucket, random);
    assertEquals(
        200, server.administer("bucket-quota?target=" + bucket + "&by=1MiB,120").statusCode());
    return workload;
  }

  private static String lockBucket(S3Client s3) {
    String bucket = Buckets.name("locks");
    s3.createBucket(b -> b.bucket(bucket).objectLockEnabledForBucket(true));
    return bucket;
  }

  private static void checkAll(ServerProcess server, List<CrashClients.Workload> workloads)
      throws Exception {
    VersionClient.Usage sum = new VersionClient.Usage(0, 0);
    for (CrashClients.Workload workload : workloads) {
      VersionClient.Usage stored = workload.checkAll();
      assertEquals(stored, usage(server, "buckets", workload.bucket()), workload.bucket());
      sum = sum.plus(stored);
    }
    assertEquals(sum, usage(server, "account-usage", ""), "the account");
  }

  /**
   * What is counted.
   *
   * @param name of the only row that counts; empty: there is one row
   */
  private static VersionClient.Usage usage(ServerProcess server, String page, String name)
      throws Exception {
    JsonNode all = new ObjectMapper().readTree(server.adminPage(page));
    for (JsonNode row : all.isArray() ? all : all.elements().next()) {
      if (name.isEmpty() || row.path("name").asText().equals(name)) {
        return new VersionClient.Usage(row.get("objects").asLong(), row.get("bytes").asLong());
      }
    }
    throw new AssertionError("no row " + name + " of " + all);
  }
}
