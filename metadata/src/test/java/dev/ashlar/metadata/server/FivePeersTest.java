package dev.ashlar.metadata.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Rule 16: five folders, one process, any two of them may be lost. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class FivePeersTest {
  @TempDir Path root = Path.of("");
  private FiveFolders folders = new FiveFolders(root);

  @BeforeEach
  void inRoot() {
    folders = new FiveFolders(root);
  }

  @AfterEach
  void closeResources() {
    folders.close();
  }

  @Test
  void twoFoldersDeletedAreRebuiltFromTheOthers() throws Exception {
    try (MetadataServer server = folders.open()) {
      folders.create(server, 20);
    }
    folders.wipe(1);
    folders.wipe(4);
    try (MetadataServer server = folders.open()) {
      folders.check(server);
      folders.create(server, 5);
      FiveFolders.awaitMembers(server);
    }
    folders.wipe(2);
    folders.wipe(3);
    try (MetadataServer server = folders.open()) {
      folders.check(server);
      FiveFolders.awaitMembers(server);
      folders.create(server, 1);
    }
  }

  @Test
  void aFolderIsRebuiltFromACheckpointWhenTheLogIsGone() throws Exception {
    CheckpointLimits small = new CheckpointLimits(100, 1 << 20);
    try (MetadataServer server = folders.open(folders.all(), Set.of(), small)) {
      folders.create(server, 1200);
      server.checkpoint(Duration.ofMinutes(1));
    }
    folders.wipe(1);
    folders.wipe(2);
    try (MetadataServer server = folders.open(folders.all(), Set.of(), small)) {
      folders.check(server);
      FiveFolders.awaitMembers(server);
    }
    folders.wipe(4);
    folders.wipe(5);
    try (MetadataServer server = folders.open(folders.all(), Set.of(), small)) {
      folders.check(server);
    }
  }

  /**
   * Followers hear of a commit with the next message only: not before a stop that follows at once.
   */
  @Test
  void aCheckpointHoldsTheLastCommitInEveryFolder() throws Exception {
    try (MetadataServer server = folders.open()) {
      folders.create(server, 3);
      server.checkpoint(Duration.ofMinutes(1));
    }
    Set<String> checkpoints = new HashSet<>();
    for (int place = 1; place <= 5; place++) {
      try (Stream<Path> files = Files.list(folders.raft(place).resolve("sm"))) {
        checkpoints.add(
            files
                .map(file -> file.getFileName().toString())
                .filter(name -> name.startsWith("checkpoint-"))
                .max(Comparator.naturalOrder())
                .orElse("none"));
      }
    }
    assertEquals(1, checkpoints.size(), checkpoints::toString);
    assertFalse(checkpoints.contains("none"));
  }

  @Test
  void aMinorityIsNotEnough() throws Exception {
    try (MetadataServer server = folders.open()) {
      folders.create(server, 1);
    }
    folders.wipe(1);
    folders.wipe(2);
    folders.wipe(3);
    IOException e = assertThrows(IOException.class, folders::open);
    assertTrue(e.toString().contains("2 of 5"), e.toString());
  }

  @Test
  void swappedFoldersAreRefused() throws Exception {
    folders.open().close();
    List<Path> swapped = new ArrayList<>(folders.all());
    Collections.swap(swapped, 1, 2);
    IOException e =
        assertThrows(
            IOException.class, () -> folders.open(swapped, Set.of(), CheckpointLimits.DEFAULT));
    assertTrue(e.toString().contains("restore the order"), e.toString());
  }
}
