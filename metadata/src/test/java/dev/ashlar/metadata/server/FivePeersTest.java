package dev.ashlar.metadata.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.CheckpointLimits;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CreateBucket;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rule 16: five folders, one process, any two of them may be lost. */
class FivePeersTest {
  @TempDir Path root = Path.of("");
  private final TestResources resources = new TestResources();
  private final UUID clusterId = UUID.randomUUID();
  private int buckets;

  @AfterEach
  void closeResources() {
    resources.close();
  }

  private List<Path> folders() {
    return IntStream.rangeClosed(1, 5).mapToObj(i -> root.resolve("m" + i)).toList();
  }

  private MetadataServer open(List<Path> folders, CheckpointLimits limits) throws Exception {
    return MetadataServer.open(
        new MetadataConfig(
            folders,
            clusterId,
            resources.get(),
            new SimpleMeterRegistry(),
            Clock.systemUTC(),
            MetadataConfig.COMMAND_TIMEOUT,
            limits));
  }

  private MetadataServer open() throws Exception {
    return open(folders(), CheckpointLimits.DEFAULT);
  }

  private void create(MetadataServer server, int count) throws Exception {
    for (int i = 0; i < count; i++) {
      server
          .client()
          .submit(
              Command.newBuilder()
                  .setCreateBucket(
                      CreateBucket.newBuilder().setName("b" + buckets).setOwner("me")));
      buckets++;
    }
  }

  private void check(MetadataServer server) throws Exception {
    assertEquals(buckets, server.client().buckets().size());
  }

  private void wipe(int place) throws IOException {
    try (Stream<Path> tree = Files.walk(root.resolve("m" + place))) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  private void awaitMembers() throws Exception {
    for (Path folder : folders()) {
      while (!Files.readString(folder.resolve("identity")).contains("MEMBER")) {
        Thread.sleep(20);
      }
    }
  }

  @Test
  void twoFoldersDeletedAreRebuiltFromTheOthers() throws Exception {
    try (MetadataServer server = open()) {
      create(server, 20);
    }
    wipe(1);
    wipe(4);
    try (MetadataServer server = open()) {
      check(server);
      create(server, 5);
      awaitMembers();
    }
    wipe(2);
    wipe(3);
    try (MetadataServer server = open()) {
      check(server);
      awaitMembers();
      create(server, 1);
    }
  }

  @Test
  void aFolderIsRebuiltFromACheckpointWhenTheLogIsGone() throws Exception {
    CheckpointLimits small = new CheckpointLimits(100, 1 << 20);
    try (MetadataServer server = open(folders(), small)) {
      create(server, 1200);
      server.checkpoint();
    }
    wipe(1);
    wipe(2);
    try (MetadataServer server = open(folders(), small)) {
      check(server);
      awaitMembers();
    }
    wipe(4);
    wipe(5);
    try (MetadataServer server = open(folders(), small)) {
      check(server);
    }
  }

  @Test
  void aMinorityIsNotEnough() throws Exception {
    try (MetadataServer server = open()) {
      create(server, 1);
    }
    wipe(1);
    wipe(2);
    wipe(3);
    IOException e = assertThrows(IOException.class, this::open);
    assertTrue(e.toString().contains("2 of 5"), e.toString());
  }

  @Test
  void swappedFoldersAreRefused() throws Exception {
    open().close();
    List<Path> swapped = new ArrayList<>(folders());
    Collections.swap(swapped, 1, 2);
    IOException e = assertThrows(IOException.class, () -> open(swapped, CheckpointLimits.DEFAULT));
    assertTrue(e.toString().contains("restore the order"), e.toString());
  }
}
