package dev.ashlar.metadata.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.CheckpointLimits;
import dev.ashlar.metadata.consensus.FolderStatus;
import dev.ashlar.metadata.memory.TestBlobs;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One flipped bit in any file of the only metadata folder, and crashes amid its upkeep. */
class RottenFilesTest {
  private static final int BUCKETS = 200;
  private static final int LOG_FLIPS = 40;

  @TempDir Path root = Path.of("");
  private final long seed = Long.getLong("ashlar.seed", System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);
  private final TestResources resources = new TestResources();
  private final UUID cluster = UUID.randomUUID();
  private final MeterRegistry meters = new SimpleMeterRegistry();
  private Path folder = root;

  /** A checkpoint with a second copy, and log behind it. */
  @BeforeEach
  void fill() throws Exception {
    System.out.println("RottenFilesTest: replay with -Dashlar.seed=" + seed);
    folder = root.resolve("m1");
    try (MetadataServer server = open(CheckpointLimits.DEFAULT)) {
      create(server, 0, BUCKETS / 2);
      server.checkpoint(Duration.ofMinutes(1));
      awaitCopy();
      create(server, BUCKETS / 2, BUCKETS);
    }
  }

  @AfterEach
  void closeResources() {
    resources.close();
  }

  private MetadataServer open(CheckpointLimits limits) throws Exception {
    return MetadataServer.open(
        new MetadataConfig(
            List.of(folder),
            Set.of(),
            cluster,
            resources.get(),
            meters,
            Clock.systemUTC(),
            MetadataConfig.COMMAND_TIMEOUT,
            limits));
  }

  private static void create(MetadataServer server, int from, int to) throws Exception {
    for (int i = from; i < to; i++) {
      server.client().submit(TestBlobs.createBucket("bucket-" + i));
    }
  }

  private Path checkpoints() {
    return folder.resolve("raft").resolve(cluster.toString()).resolve("sm");
  }

  private Path log() {
    return checkpoints().resolveSibling("current");
  }

  private List<Path> files(Path under, String prefix) throws IOException {
    try (Stream<Path> files = Files.walk(under)) {
      return files
          .filter(file -> Files.isRegularFile(file) && file.toFile().length() > 0)
          .filter(file -> under.relativize(file).toString().startsWith(prefix))
          .sorted()
          .toList();
    }
  }

  private void awaitCopy() throws Exception {
    while (files(checkpoints(), "copy-").stream().noneMatch(RottenFilesTest::isInWholeCopy)) {
      Thread.sleep(10);
    }
  }

  private static boolean isInWholeCopy(Path file) {
    return !directoryOf(file).toString().endsWith(".new");
  }

  private static Path directoryOf(Path file) {
    return Objects.requireNonNull(file.getParent());
  }

  private void flipBit(Path file, long at) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[(int) at] ^= (byte) (1 << random.nextInt(8));
    try (var channel = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(bytes)); // in place: links share it
    }
  }

  private void check(MetadataServer server, String what) throws Exception {
    assertEquals(BUCKETS, server.client().buckets().size(), what);
    assertEquals(
        List.of(FolderStatus.Standing.MEMBER),
        server.folders().stream().map(FolderStatus::standing).toList(),
        what);
  }

  private void checkOpens(String what) throws Exception {
    try (MetadataServer server = open(CheckpointLimits.DEFAULT)) {
      check(server, what);
    }
  }

  @Test
  void aBitOfAnyFileOfTheCheckpointOrItsCopyFlips() throws Exception {
    Path whole = folder;
    int round = 0;
    for (String prefix : List.of("checkpoint-", "copy-")) {
      List<Path> all = files(checkpoints(), prefix);
      assertTrue(all.size() >= 4, all::toString);
      for (Path file : all) {
        folder = root.resolve("round" + round++);
        FiveFolders.copy(whole, folder);
        Path victim = folder.resolve(whole.relativize(file));
        flipBit(victim, random.nextLong(Files.size(victim)));
        checkOpens("" + victim);
        folder = whole;
      }
    }
  }

  @Test
  void aBitOfTheLogThatTheCheckpointCoversFlips() throws Exception {
    Path whole = folder;
    List<Path> segments = files(log(), "log_inprogress_");
    assertEquals(1, segments.size());
    for (int i = 0; i < LOG_FLIPS; i++) {
      folder = root.resolve("round" + i);
      FiveFolders.copy(whole, folder);
      Path victim = folder.resolve(whole.relativize(segments.getFirst()));
      long at = random.nextLong(covered(victim));
      flipBit(victim, at);
      checkOpens("byte " + at + " of " + victim);
      checkOpens("again, byte " + at + " of " + victim);
      folder = whole;
    }
  }

  /** The first 90 of its entries are long before the checkpoint's. */
  private static long covered(Path segment) throws IOException {
    byte[] bytes = Files.readAllBytes(segment);
    int end = bytes.length;
    while (bytes[end - 1] == 0) {
      end--;
    }
    return end * 2L / 5;
  }

  @Test
  void theBackgroundVerificationMendsWhatNobodyReads() throws Exception {
    for (Path file : files(checkpoints(), "copy-")) {
      flipBit(file, Files.size(file) / 2);
      byte[] damaged = Files.readAllBytes(file);
      CheckpointLimits often = CheckpointLimits.DEFAULT.withVerifyEvery(Duration.ZERO);
      try (MetadataServer server = open(often)) {
        while (Arrays.equals(damaged, Files.readAllBytes(file))) {
          Thread.sleep(10);
        }
        check(server, "" + file);
      }
    }
    assertTrue(meters.counter("ashlar_metadata_damaged_files_total").count() > 0);
  }

  @Test
  void tablesThatRotInUseAreRebuilt() throws Exception {
    try (MetadataServer server = open(CheckpointLimits.DEFAULT.withVerifyEvery(Duration.ZERO))) {
      for (Path file : files(folder.resolve("live"), "")) {
        if (file.toString().endsWith(".sst")) {
          flipBit(file, Files.size(file) / 3); // the checkpoint links the same file
        }
      }
      server.checkpoint(Duration.ofMinutes(1));
      while (meters.counter("ashlar_metadata_rebuilt_tables_total").count() == 0) {
        Thread.sleep(10);
      }
      check(server, "rebuilt");
    }
    checkOpens("later");
  }

  /** It had more than the other checkpoint and the log have: refused, not forgotten. */
  @Test
  void aDamagedCheckpointBehindTheEndOfTheLogIsNotPassedOver() throws Exception {
    Path whole = directoryOf(files(checkpoints(), "checkpoint-").getFirst());
    Path latest = checkpoints().resolve("checkpoint-9-999999");
    FiveFolders.copy(whole, latest);
    for (Path file : files(latest, "MANIFEST")) {
      Files.write(file, new byte[200]);
    }
    IOException refused =
        assertThrows(IOException.class, () -> open(CheckpointLimits.DEFAULT).close());
    assertTrue(refused.toString().contains("before " + latest), refused.toString());
    FiveFolders.delete(latest);
    checkOpens("without it");
  }

  /** What a crash behind each step of the upkeep leaves. */
  private enum Crash {
    CHECKPOINT_BEGUN("checkpoint-", "checkpoint-9-999999.new", false),
    COPY_BEGUN("copy-", "copy-9-999999.new", false),
    COPY_MADE_NOTHING_REMOVED("copy-", "copy-1-1", true),
    OLD_CHECKPOINT_HALF_REMOVED("checkpoint-", "checkpoint-1-1.removed", false),
    OLD_COPY_HALF_REMOVED("copy-", "copy-1-1.removed", false),
    TRIAL("copy-", "trial.new", true);

    private final String from;
    private final String left;
    private final boolean isWhole;

    Crash(String from, String left, boolean isWhole) {
      this.from = from;
      this.left = left;
      this.isWhole = isWhole;
    }
  }

  @Test
  void crashesAmidTheUpkeepLoseNothing() throws Exception {
    Path whole = folder;
    for (Crash crash : Crash.values()) {
      folder = root.resolve(crash.name());
      FiveFolders.copy(whole, folder);
      Path source = directoryOf(files(checkpoints(), crash.from).getFirst());
      Path left = checkpoints().resolve(crash.left);
      FiveFolders.copy(source, left);
      if (!crash.isWhole) {
        Files.delete(files(left, "").getFirst());
      }
      checkOpens(crash.name());
      folder = whole;
    }
  }
}
