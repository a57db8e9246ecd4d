package dev.ashlar.metadata.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.MetadataConfig;
import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.metadata.consensus.folder.FolderStatus;
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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One flipped bit in any file of the only metadata folder, and crashes amid its upkeep. */
@Tag("slow")
class RottenFilesTest {
  private static final int BUCKETS = 200;
  private static final int LOG_FLIPS = 40;

  @TempDir static Path templateRoot = Path.of("");
  @TempDir Path root = Path.of("");
  private static final long SEED = Long.getLong("ashlar.seed", System.nanoTime());
  private static final UUID CLUSTER = UUID.randomUUID();
  private static Path template = Path.of("");
  private final SplittableRandom random = new SplittableRandom(SEED);
  private final MeterRegistry meters = new SimpleMeterRegistry();
  private final AtomicInteger folders = new AtomicInteger();

  /** A checkpoint with a second copy, and log behind it. */
  @BeforeAll
  static void fill() throws Exception {
    System.out.println("RottenFilesTest: replay with -Dashlar.seed=" + SEED);
    template = templateRoot.resolve("m1");
    try (TestResources resources = new TestResources();
        MetadataServer server =
            open(template, CheckpointLimits.DEFAULT, resources, new SimpleMeterRegistry())) {
      create(server, 0, BUCKETS / 2);
      server.checkpoint(Duration.ofMinutes(1));
      awaitCopy(template);
      create(server, BUCKETS / 2, BUCKETS);
    }
  }

  private Path copied() throws IOException {
    Path folder = root.resolve("m" + folders.getAndIncrement());
    FiveFolders.copy(template, folder);
    return folder;
  }

  private static MetadataServer open(
      Path folder, CheckpointLimits limits, TestResources resources, MeterRegistry meters)
      throws Exception {
    return MetadataServer.open(
        new MetadataConfig(
            List.of(folder),
            Set.of(),
            CLUSTER,
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

  private static Path checkpoints(Path folder) {
    return folder.resolve("raft").resolve(CLUSTER.toString()).resolve("sm");
  }

  private static Path log(Path folder) {
    return checkpoints(folder).resolveSibling("current");
  }

  private static List<Path> files(Path under, String prefix) throws IOException {
    try (Stream<Path> files = Files.walk(under)) {
      return files
          .filter(file -> Files.isRegularFile(file) && file.toFile().length() > 0)
          .filter(file -> under.relativize(file).toString().startsWith(prefix))
          .sorted()
          .toList();
    }
  }

  private static void awaitCopy(Path folder) throws Exception {
    while (files(checkpoints(folder), "copy-").stream().noneMatch(RottenFilesTest::isInWholeCopy)) {
      Thread.sleep(10);
    }
  }

  private static boolean isInWholeCopy(Path file) {
    return !directoryOf(file).toString().endsWith(".new");
  }

  private static Path directoryOf(Path file) {
    return Objects.requireNonNull(file.getParent());
  }

  private static void flipBit(Path file, long bit) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[(int) (bit / Byte.SIZE)] ^= (byte) (1 << bit % Byte.SIZE);
    try (var channel = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(bytes)); // in place: links share it
    }
  }

  private static void check(MetadataServer server, String what) throws Exception {
    assertEquals(BUCKETS, server.client().buckets().size(), what);
    assertEquals(
        List.of(FolderStatus.Standing.MEMBER),
        server.folders().stream().map(FolderStatus::standing).toList(),
        what);
  }

  /** With caches that know nothing: they would go on with what the files had. */
  private void checkOpens(Path folder, String what) throws Exception {
    try (TestResources resources = new TestResources();
        MetadataServer server = open(folder, CheckpointLimits.DEFAULT, resources, meters)) {
      check(server, what);
    }
  }

  /**
   * A bit of a file.
   *
   * @param file in the folder
   */
  private record Flip(Path file, long bit) {
    Path in(Path folder) throws IOException {
      Path victim = folder.resolve(file);
      flipBit(victim, bit);
      return victim;
    }
  }

  private Flip flip(Path file, long bytes) {
    return new Flip(template.relativize(file), random.nextLong(bytes * Byte.SIZE));
  }

  @Test
  void aBitOfAnyFileOfTheCheckpointOrItsCopyFlips() throws Exception {
    List<Flip> flips = new ArrayList<>();
    for (String prefix : List.of("checkpoint-", "copy-")) {
      List<Path> all = files(checkpoints(template), prefix);
      assertTrue(all.size() >= 4, all::toString);
      for (Path file : all) {
        flips.add(flip(file, Files.size(file)));
      }
    }
    InParallel.forEach(
        flips,
        flip -> {
          Path folder = copied();
          checkOpens(folder, "bit " + flip.bit() + " of " + flip.in(folder));
        });
  }

  @Test
  void aBitOfTheLogThatTheCheckpointCoversFlips() throws Exception {
    List<Path> segments = files(log(template), "log_inprogress_");
    assertEquals(1, segments.size());
    long covered = covered(segments.getFirst());
    List<Flip> flips =
        Stream.generate(() -> flip(segments.getFirst(), covered)).limit(LOG_FLIPS).toList();
    InParallel.forEach(
        flips,
        flip -> {
          Path folder = copied();
          String what = "bit " + flip.bit() + " of " + flip.in(folder);
          checkOpens(folder, what);
          checkOpens(folder, "again, " + what);
        });
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
  void backgroundVerificationRepairsUnreadFiles() throws Exception {
    InParallel.forEach(
        files(checkpoints(template), "copy-"),
        each -> {
          Path folder = copied();
          Path file = folder.resolve(template.relativize(each));
          flipBit(file, Files.size(file) * Byte.SIZE / 2);
          byte[] damaged = Files.readAllBytes(file);
          CheckpointLimits often = CheckpointLimits.DEFAULT.withVerifyEvery(Duration.ZERO);
          try (TestResources resources = new TestResources();
              MetadataServer server = open(folder, often, resources, meters)) {
            while (Arrays.equals(damaged, Files.readAllBytes(file)) || damagedFiles() == 0) {
              Thread.sleep(10);
            }
            check(server, "" + file);
          }
        });
  }

  private double damagedFiles() {
    return meters.counter("ashlar.metadata.damaged.files").count();
  }

  @Test
  void tablesThatRotInUseAreRebuilt() throws Exception {
    Path folder = copied();
    CheckpointLimits often = CheckpointLimits.DEFAULT.withVerifyEvery(Duration.ZERO);
    try (TestResources resources = new TestResources();
        MetadataServer server = open(folder, often, resources, meters)) {
      for (Path file : files(folder.resolve("live"), "")) {
        if (file.toString().endsWith(".sst")) {
          flipBit(file, Files.size(file) / 3 * Byte.SIZE); // the checkpoint links the same file
        }
      }
      server.checkpoint(Duration.ofMinutes(1));
      while (meters.counter("ashlar.metadata.rebuilt.tables").count() == 0) {
        Thread.sleep(10);
      }
      check(server, "rebuilt");
    }
    checkOpens(folder, "later");
  }

  /** It had more than the other checkpoint and the log have: refused, not forgotten. */
  @Test
  void aDamagedCheckpointBehindTheEndOfTheLogIsNotPassedOver() throws Exception {
    Path folder = copied();
    Path whole = directoryOf(files(checkpoints(folder), "checkpoint-").getFirst());
    Path latest = checkpoints(folder).resolve("checkpoint-9-999999");
    FiveFolders.copy(whole, latest);
    for (Path file : files(latest, "MANIFEST")) {
      Files.write(file, new byte[200]);
    }
    IOException refused = assertThrows(IOException.class, () -> checkOpens(folder, "refused"));
    assertTrue(refused.toString().contains("before " + latest), refused.toString());
    FiveFolders.delete(latest);
    checkOpens(folder, "without it");
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
    InParallel.forEach(
        List.of(Crash.values()),
        crash -> {
          Path folder = copied();
          Path source = directoryOf(files(checkpoints(folder), crash.from).getFirst());
          Path left = checkpoints(folder).resolve(crash.left);
          FiveFolders.copy(source, left);
          if (!crash.isWhole) {
            Files.delete(files(left, "").getFirst());
          }
          checkOpens(folder, crash.name());
        });
  }
}
