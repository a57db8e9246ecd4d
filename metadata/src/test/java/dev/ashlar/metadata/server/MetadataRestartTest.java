package dev.ashlar.metadata.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.MetadataConfig;
import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.metadata.memory.TestBlobs;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
@Tag("slow")
class MetadataRestartTest {
  @TempDir Path folder = Path.of("");
  private final TestResources resources = new TestResources();
  private final UUID clusterId = UUID.randomUUID();

  @AfterEach
  void closeResources() {
    resources.close();
  }

  private MetadataServer open(Path at, CheckpointLimits limits) throws Exception {
    return MetadataServer.open(
        new MetadataConfig(
            List.of(at),
            Set.of(),
            clusterId,
            resources.get(),
            new SimpleMeterRegistry(),
            Clock.systemUTC(),
            MetadataConfig.COMMAND_TIMEOUT,
            limits));
  }

  private MetadataServer open() throws Exception {
    return open(folder.resolve("m1"), CheckpointLimits.DEFAULT);
  }

  private static void create(MetadataServer server, String name) throws Exception {
    server.client().submit(TestBlobs.createBucket(name));
  }

  @Test
  void answeredCommandsSurviveARestart() throws Exception {
    long session;
    try (MetadataServer server = open()) {
      session = server.client().session();
      create(server, "a");
    }
    try (MetadataServer server = open()) {
      assertTrue(server.client().session() > session);
      assertTrue(server.client().bucket("a").isPresent());
      create(server, "b");
      server.checkpoint(Duration.ofMinutes(1));
      create(server, "c");
    }
    try (MetadataServer server = open()) {
      assertEquals(3, server.client().buckets().size());
    }
  }

  /**
   * Rule 7: copies of the folder, taken while commands are being answered and checkpoints are being
   * taken, are what a crash could leave. Each holds what was answered before its copy began.
   */
  @Test
  void aCrashAtAnyMomentLosesNothingThatWasAnswered() throws Exception {
    CheckpointLimits small = new CheckpointLimits(300, 1 << 20);
    List<Path> crashes = new ArrayList<>();
    List<Integer> answeredBefore = new ArrayList<>();
    try (MetadataServer server = open(folder.resolve("m1"), small)) {
      AtomicInteger answered = new AtomicInteger();
      Thread writer =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      for (int i = 0; i < 1500; i++) {
                        create(server, "b" + i);
                        answered.incrementAndGet();
                      }
                    } catch (Exception e) {
                      throw new IllegalStateException(e);
                    }
                  });
      while (crashes.size() < 5 && writer.isAlive()) {
        int before = answered.get();
        Path copy = folder.resolve("crash" + crashes.size());
        if (copied(folder.resolve("m1"), copy)) {
          crashes.add(copy);
          answeredBefore.add(before);
        }
      }
      writer.join();
    }
    assertFalse(crashes.isEmpty());
    for (int i = 0; i < crashes.size(); i++) {
      try (MetadataServer server = open(crashes.get(i), small)) {
        assertTrue(server.client().buckets().size() >= answeredBefore.get(i));
      }
    }
  }

  /** A copy is no crash when a checkpoint was removed under its hands: false. */
  private static boolean copied(Path from, Path to) throws IOException {
    Path raft = from.resolve("raft");
    Files.createDirectories(to);
    Files.copy(from.resolve("identity"), to.resolve("identity"));
    String before = checkpoints(raft);
    try (Stream<Path> tree = Files.walk(raft)) {
      for (Path path : tree.toList()) {
        Path target = to.resolve(from.relativize(path));
        if (Files.isDirectory(path)) {
          Files.createDirectories(target);
        } else if (!path.endsWith("in_use.lock")) {
          Files.copy(path, target);
        }
      }
    } catch (NoSuchFileException | UncheckedIOException e) {
      return deleted(to);
    }
    return checkpoints(raft).equals(before) || deleted(to);
  }

  private static String checkpoints(Path raft) throws IOException {
    try (Stream<Path> tree = Files.walk(raft, 3)) {
      return tree.map(Path::toString)
          .filter(name -> name.contains("checkpoint-"))
          .toList()
          .toString();
    } catch (UncheckedIOException e) {
      return "changing";
    }
  }

  private static boolean deleted(Path copy) throws IOException {
    try (Stream<Path> tree = Files.walk(copy)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
    return false;
  }
}
