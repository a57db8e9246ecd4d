package dev.ashlar.metadata.consensus.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.MetadataConfig;
import dev.ashlar.metadata.consensus.checkpoint.Checkpoints.Checkpoint;
import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.metadata.consensus.file.IoPacer;
import dev.ashlar.metadata.consensus.folder.FolderStatus;
import dev.ashlar.metadata.consensus.log.LogSegments;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.server.InParallel;
import dev.ashlar.metadata.server.MetadataServer;
import dev.ashlar.metadata.server.TestResources;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.ratis.server.protocol.TermIndex;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A crash behind every change that making a checkpoint, its second copy and room for it makes to
 * the files of the only peer, followed by a flipped bit.
 */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class CheckpointCrashTest {
  private static final int BUCKETS = 150;
  private static final int TRIES_MAX = 3_000;

  @TempDir Path root = Path.of("");
  private final UUID cluster = UUID.randomUUID();

  /** Two checkpoints, of which the first has its second copy and the second is not yet taken. */
  private Path before = root;

  private Path second = root;

  @BeforeEach
  void fill() throws Exception {
    Path folder = root.resolve("folder");
    Path aside = Files.createDirectory(root.resolve("aside"));
    createAndCheckpoint(folder, 0);
    for (Path path : list(checkpoints(folder))) {
      copy(path, aside.resolve(path.getFileName()), true);
    }
    createAndCheckpoint(folder, BUCKETS / 3);
    try (TestResources resources = new TestResources();
        MetadataServer server = open(folder, resources)) {
      create(server, 2 * BUCKETS / 3);
    }
    for (Path path : list(checkpoints(folder))) {
      if (path.getFileName().toString().startsWith("checkpoint-")) {
        second = Files.move(path, root.resolve(path.getFileName()));
      } else {
        DurableFiles.deleteTree(path);
      }
    }
    for (Path path : list(aside)) {
      Files.move(path, checkpoints(folder).resolve(path.getFileName()));
    }
    before = folder;
    Checkpoints first = new Checkpoints();
    first.init(checkpoints(folder), log(folder));
    purge(first, first.latest().orElseThrow().position().getIndex());
    assertTrue(LogSegments.firstIndex(log(folder)) > 0, "the whole log would make up for all");
  }

  private void createAndCheckpoint(Path folder, int from) throws Exception {
    try (TestResources resources = new TestResources();
        MetadataServer server = open(folder, resources)) {
      create(server, from);
      server.checkpoint(Duration.ofMinutes(1));
      Checkpoints checkpoints = new Checkpoints();
      checkpoints.init(checkpoints(folder), log(folder));
      while (list(checkpoints(folder)).size() != 2 // and the last was verified just now
          || !checkpoints.copied().equals(checkpoints.latest())) {
        Files.deleteIfExists(checkpoints(folder).resolve("verified"));
        Thread.sleep(10);
      }
    }
    Files.deleteIfExists(checkpoints(folder).resolve("verified"));
  }

  private static void create(MetadataServer server, int from) throws Exception {
    for (int i = from; i < from + BUCKETS / 3; i++) {
      server.client().submit(TestBlobs.createBucket("bucket-" + i));
    }
  }

  private MetadataServer open(Path folder, TestResources resources) throws Exception {
    return MetadataServer.open(
        new MetadataConfig(
            List.of(folder),
            Set.of(),
            cluster,
            resources.get(),
            new SimpleMeterRegistry(),
            Clock.systemUTC(),
            MetadataConfig.COMMAND_TIMEOUT,
            CheckpointLimits.DEFAULT));
  }

  private Path checkpoints(Path folder) {
    return folder.resolve("raft").resolve(cluster.toString()).resolve("sm");
  }

  private Path log(Path folder) {
    return checkpoints(folder).resolveSibling("current");
  }

  private static List<Path> list(Path directory) throws IOException {
    try (Stream<Path> paths = Files.list(directory)) {
      return paths.sorted().toList();
    }
  }

  /**
   * Copies a tree; what was linked within it is linked.
   *
   * @param isLinked whether copies are links of the originals, too
   */
  private static void copy(Path from, Path to, boolean isLinked) throws IOException {
    Map<Object, Path> copies = new HashMap<>();
    try (Stream<Path> tree = Files.walk(from)) {
      for (Path path : tree.toList()) {
        Path target = to.resolve(from.relativize(path));
        Object inode = Files.getAttribute(path, "unix:ino");
        if (Files.isDirectory(path)) {
          Files.createDirectory(target);
        } else if (isLinked || copies.containsKey(inode)) {
          Files.createLink(target, isLinked ? path : copies.get(inode));
        } else {
          Files.copy(path, target);
          copies.put(inode, target);
        }
      }
    }
  }

  @Test
  void aCrashBehindEachChangeAndAFlippedBitLoseNothing() throws Exception {
    int changes = 0;
    while (!upkeep(copied(changes), changes)) {
      changes++;
    }
    assertTrue(changes > 40, changes + " changes");
    System.out.println("CheckpointCrashTest: crashed behind each of " + changes + " changes");
    InParallel.forEach(
        IntStream.rangeClosed(0, changes).boxed().toList(),
        crash -> {
          Path folder = root.resolve("crash" + crash);
          flipBit(folder);
          checkOpens(folder, crash + " changes");
          DurableFiles.deleteTree(folder);
        });
  }

  private Path copied(int crash) throws IOException {
    Path folder = root.resolve("crash" + crash);
    copy(before, folder, false);
    return folder;
  }

  /** What the applying thread, the keeper and Ratis do, until a crash. */
  private boolean upkeep(Path folder, int changes) throws Exception {
    CrashingFiles files = new CrashingFiles(changes);
    Checkpoints checkpoints = new Checkpoints();
    try {
      checkpoints.init(files.wrap(checkpoints(folder)), files.wrap(log(folder)));
      String[] name = second.getFileName().toString().split("-", -1);
      TermIndex position = TermIndex.valueOf(Long.parseLong(name[1]), Long.parseLong(name[2]));
      Path first = checkpoints.latest().orElseThrow().path();
      checkpoints.take(position, target -> write(first, target));
      Checkpoint taken = checkpoints.beginCopy().orElseThrow();
      new SecondCopy(checkpoints).make(taken, path -> Long.MAX_VALUE, IoPacer.unlimited());
      checkpoints.removeBefore(taken);
      checkpoints.endCopy();
      purge(checkpoints, position.getIndex());
      return true;
    } catch (CrashingFiles.CrashError e) {
      return false;
    }
  }

  /** As Ratis does. */
  private static void purge(Checkpoints checkpoints, long upTo) throws IOException {
    for (LogSegments.Segment segment : LogSegments.segments(checkpoints.logDirectory())) {
      if (!segment.isOpen() && segment.last() <= upTo) {
        Files.delete(segment.path());
      }
    }
  }

  /** As the tables do: files that the first checkpoint has, too, are links. */
  private void write(Path first, Path target) {
    try {
      Files.createDirectory(target);
      for (Path file : Checkpoints.content(second)) {
        String name = file.getFileName().toString();
        if (FileSums.isTable(name) && Files.exists(first.resolve(name))) {
          Files.createLink(target.resolve(name), first.resolve(name));
        } else {
          Files.write(target.resolve(name), Files.readAllBytes(file));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** In the middle of the largest table of the latest checkpoint. */
  private void flipBit(Path folder) throws IOException {
    Checkpoints checkpoints = new Checkpoints();
    checkpoints.init(checkpoints(folder), log(folder));
    Path latest = checkpoints.latest().orElseThrow().path();
    Path table =
        Checkpoints.content(latest).stream()
            .filter(file -> FileSums.isTable(file.toString()))
            .max(Comparator.comparingLong(file -> file.toFile().length()))
            .orElseThrow();
    byte[] bytes = Files.readAllBytes(table);
    bytes[bytes.length / 3] ^= 1;
    try (var channel = Files.newByteChannel(table, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(bytes)); // in place: links share it
    }
  }

  /** With caches that know nothing: they would go on with what the files of another folder had. */
  private void checkOpens(Path folder, String when) throws Exception {
    try (TestResources resources = new TestResources();
        MetadataServer server = open(folder, resources)) {
      assertEquals(BUCKETS, readBuckets(server), when);
      assertEquals(FolderStatus.Standing.MEMBER, server.folders().getFirst().standing(), when);
    }
  }

  /** Until tables that turned out damaged are rebuilt. */
  private static int readBuckets(MetadataServer server) throws Exception {
    for (int tries = 1; ; tries++) {
      try {
        return server.client().buckets().size();
      } catch (MetadataUnavailableException e) {
        if (tries == TRIES_MAX) {
          throw e;
        }
        Thread.sleep(20);
      }
    }
  }
}
