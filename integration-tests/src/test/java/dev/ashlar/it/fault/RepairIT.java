package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Metrics;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;

/** A drive that was replaced has everything again, and then others may be lost. */
class RepairIT {
  private static final int PARITY_SHARDS = 2;
  private static final List<Integer> LENGTHS =
      List.of(1, 4096, 5120, 16385, 65536, 200_000, 3_000_001, 20_000_000);

  private final long seed = Seeds.seed("RepairIT");
  private final SplittableRandom random = new SplittableRandom(seed);
  private ServerProcess server;
  private S3Client s3;
  private String bucket;

  @BeforeEach
  void start() {
    server = ServerProcess.start(ServerSpec.named("repair"));
    s3 = Clients.sync(server);
    bucket = Buckets.create(s3, "repair");
    for (int length : LENGTHS) {
      RequestBody body = RequestBody.fromBytes(content(length).bytes());
      s3.putObject(b -> b.bucket(bucket).key("o/" + length), body);
    }
  }

  @AfterEach
  void close() {
    s3.close();
    server.close();
  }

  @Test
  void drivesAreReplacedOneAfterTheOtherAndKilledOnTheWay() throws Exception {
    List<Path> folders = new ArrayList<>(server.driveFolders());
    for (int replaced = 0; replaced < PARITY_SHARDS; replaced++) {
      Path folder = folders.remove(random.nextInt(folders.size()));
      System.out.println("replaced: " + folder);
      server.stop();
      ServerProcess.deleteRecursively(folder);
      server.start();
      if (replaced == 0) {
        server.kill();
        server.start();
      }
      awaitRepaired();
      readAll();
    }
    server.stop();
    for (int lost = 0; lost < PARITY_SHARDS; lost++) {
      ServerProcess.deleteRecursively(folders.remove(random.nextInt(folders.size())));
    }
    server.start();
    readAll();
  }

  private void awaitRepaired() throws Exception {
    Await.until("nothing is owed", () -> Metrics.of(server).value("ashlar_repair_debt_blobs") == 0);
  }

  private void readAll() {
    for (int length : LENGTHS) {
      byte[] got =
          s3.getObjectAsBytes(b -> b.bucket(bucket).key("o/" + length)).asByteArrayUnsafe();
      assertEquals(content(length).sha256(), Content.sha256(got), length + " bytes");
    }
  }

  private Content content(int length) {
    return new Content(seed + length, length);
  }
}
