package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.Metrics;
import dev.ashlar.it.harness.Scrub;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.SegmentBlock;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;

/** Bits that flip on drives while the server runs are found and mended, and nobody reads them. */
class ScrubIT {
  private static final int PARITY_SHARDS = 2;
  private static final List<Integer> LENGTHS =
      List.of(1, 4096, 5120, 16385, 65536, 200_000, 3_000_001, 20_000_000);

  private static final int PATCHED = 8;
  private static final int PATCHED_BYTES = 300_000;
  private static final int PATCH_BYTES = 100_000;

  private final long seed = Seeds.seed("ScrubIT");
  private final SplittableRandom random = new SplittableRandom(seed);
  private ServerProcess server;
  private Scrub scrub;
  private S3Client s3;
  private String bucket;

  @BeforeEach
  void start() {
    server = ServerProcess.start(ServerSpec.named("scrub"));
    scrub = new Scrub(server);
    s3 = Clients.sync(server);
    bucket = Buckets.create(s3, "scrub");
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
  void flippedBitsAreFoundAndMendedWhileTheServerRuns() throws Exception {
    List<Path> folders = new ArrayList<>(server.driveFolders());
    for (int i = 0; i < PARITY_SHARDS; i++) {
      flipBits(folders.remove(random.nextInt(folders.size())));
    }
    readAll();
    Await.until("what reads met is owed", () -> value("ashlar_repair_lost_shards_total") > 0);
    scrub.run();
    assertTrue(value("ashlar_drive_corrupt_blocks_total") > 0, "reads met damage");
    awaitRepaired();
    readAll();
    for (int i = 0; i < PARITY_SHARDS; i++) { // of a shard, many blocks may have been damaged
      scrub.run();
      awaitRepaired();
    }
    assertEquals(0, scrub.run(), "damaged blocks are left");
    readAllWithoutOthers(folders);
  }

  /** As many of the drives that were never damaged are lost as may be. */
  private void readAllWithoutOthers(List<Path> undamaged) throws Exception {
    server.stop();
    for (int i = 0; i < PARITY_SHARDS; i++) {
      ServerProcess.deleteRecursively(undamaged.remove(random.nextInt(undamaged.size())));
    }
    server.start();
    readAll();
  }

  /**
   * What patches have replaced is still on the drives, and damaged like all around it, but no read
   * needs it. Many shards wait for their second look, each met at many places by then.
   */
  @LongTest
  void damageIsMendedBesideBlocksThatPatchesHaveReplaced() throws Exception {
    List<Path> folders = new ArrayList<>(server.driveFolders());
    List<Path> damaged = new ArrayList<>();
    for (int i = 0; i < PARITY_SHARDS; i++) {
      damaged.add(folders.remove(random.nextInt(folders.size())));
    }
    Set<SegmentBlock> replacedInPart = new LinkedHashSet<>();
    byte[] patch = content(PATCH_BYTES).bytes();
    try (ChangeClient client = new ChangeClient(server, bucket)) {
      Set<SegmentBlock> before = SegmentBlock.of(damaged);
      for (int i = 0; i < PATCHED; i++) {
        assertEquals(200, client.put("p/" + i, content(PATCHED_BYTES + i).bytes()).status());
      }
      replacedInPart.addAll(SegmentBlock.of(damaged));
      replacedInPart.removeAll(before);
      for (int i = 0; i < PATCHED; i++) {
        assertEquals(200, client.patch("p/" + i, 0, patch).status());
      }
    }
    CrashRound.awaitFolded(server);
    for (SegmentBlock block : replacedInPart) {
      block.flipBit(random);
    }
    assertTrue(scrub.run() > 0, "damaged blocks are found");
    awaitRepaired();
    assertEquals(0, scrub.run(), "damaged blocks are left");
    readAllWithoutOthers(folders);
    try (ChangeClient client = new ChangeClient(server, bucket)) {
      for (int i = 0; i < PATCHED; i++) {
        byte[] expected = content(PATCHED_BYTES + i).bytes();
        System.arraycopy(patch, 0, expected, 0, patch.length);
        assertArrayEquals(expected, client.get("p/" + i), "object " + i);
      }
    }
  }

  /** A bit in one of eight blocks. */
  private void flipBits(Path folder) throws IOException {
    System.out.println("damaged: " + folder);
    for (SegmentBlock block : SegmentBlock.of(List.of(folder))) {
      if (random.nextInt(8) == 0) {
        block.flipBit(random);
      }
    }
  }

  private double value(String metric) {
    return Metrics.of(server).value(metric);
  }

  private void awaitRepaired() throws Exception {
    Await.until(
        "what was found is looked at again", () -> value("ashlar_repair_suspect_shards") == 0);
    Await.until(
        "nothing is owed", () -> server.health().contains("\"known\":true,\"debtBlobs\":0,"));
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
