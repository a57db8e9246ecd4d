package dev.ashlar.metadata.server;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A drive on which the only metadata folder has no room for second copies of its checkpoints. */
@Timeout(300)
class FullDriveTest {
  @TempDir Path root = Path.of("");
  private FiveFolders folders = new FiveFolders(root);
  private volatile long room;

  @BeforeEach
  void inRoot() {
    folders = new FiveFolders(root);
  }

  @AfterEach
  void closeResources() {
    folders.close();
  }

  private MetadataServer open() throws Exception {
    CheckpointLimits limits = CheckpointLimits.DEFAULT.withRoom(path -> room);
    return folders.open(List.of(folders.folder(1)), Set.of(), limits);
  }

  private List<String> copies() throws IOException {
    try (Stream<Path> files = Files.list(folders.raft(1).resolve("sm"))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.matches("copy-[0-9]+-[0-9]+"))
          .toList();
    }
  }

  @Test
  void itGoesOnWithoutAndRemovesTheOldCopy() throws Exception {
    room = Long.MAX_VALUE;
    try (MetadataServer server = open()) {
      folders.create(server, 30);
      server.checkpoint(Duration.ofMinutes(1));
      while (copies().isEmpty()) {
        Thread.sleep(10);
      }
    }
    List<String> withRoom = copies();
    room = -1;
    try (MetadataServer server = open()) {
      folders.create(server, 30);
      server.checkpoint(Duration.ofMinutes(1));
      while (!copies().isEmpty()) {
        Thread.sleep(10);
      }
      folders.create(server, 30);
      folders.check(server);
    }
    room = Long.MAX_VALUE;
    try (MetadataServer server = open()) {
      folders.check(server);
      while (copies().isEmpty()) {
        Thread.sleep(10);
      }
      assertTrue(!copies().equals(withRoom), copies()::toString);
    }
    try (MetadataServer server = open()) {
      folders.check(server);
    }
  }
}
