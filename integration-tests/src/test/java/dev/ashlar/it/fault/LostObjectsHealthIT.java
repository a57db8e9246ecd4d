package dev.ashlar.it.fault;

import static dev.ashlar.it.harness.S3Failures.assertFails;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Metrics;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;

/** What health, metrics and the admin page say where objects cannot be read any more. */
class LostObjectsHealthIT {
  private static final int OBJECTS = 5;
  private static final int LENGTH = 200_000;

  private final long seed = Seeds.seed("LostObjectsHealthIT");

  @Test
  void objectsThatCannotBeReadAreTold() throws Exception {
    try (ServerProcess server = ServerProcess.start(ServerSpec.named("lost-objects"));
        S3Client s3 = Clients.sync(server)) {
      String bucket = Buckets.create(s3, "lost");
      for (int i = 0; i < OBJECTS; i++) {
        String key = "o/" + i;
        byte[] bytes = new Content(seed + i, LENGTH).bytes();
        s3.putObject(b -> b.bucket(bucket).key(key), RequestBody.fromBytes(bytes));
      }
      server.stop();
      for (Path folder : server.driveFolders().subList(0, 3)) {
        ServerProcess.deleteRecursively(folder);
        Files.createDirectories(folder);
        Files.createFile(folder.resolve("replacement-confirmed"));
      }
      server.start();
      Await.until(
          "protection is known",
          () -> server.anyHealth().contains("\"protection\":{\"known\":true"));
      assertFails(503, () -> s3.getObjectAsBytes(b -> b.bucket(bucket).key("o/0")));
      String health = server.health();
      assertTrue(health.startsWith("{\"status\":\"DEGRADED\",\"reads\":\"SOME\","), health);
      String risk = "\"unreadableBlobs\":" + OBJECTS;
      assertTrue(health.contains(risk), health);
      assertTrue(server.adminPage("status").contains(risk), server.adminPage("status"));
      assertEquals(OBJECTS, Metrics.of(server).sum("ashlar_risk_unreadable_blobs"));
    }
  }
}
