package dev.ashlar.it.start;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class StopIT {
  @Test
  void aCleanEndLeavesACheckpointOfEveryMetadataFolder() throws IOException {
    ServerSpec spec = ServerSpec.named("stop").withMetadataFolders(3);
    try (ServerProcess server = ServerProcess.start(spec)) {
      server.stop();
      for (Path folder : server.metadataFolders()) {
        try (Stream<Path> files = Files.walk(folder)) {
          assertTrue(
              files.anyMatch(file -> file.getFileName().toString().startsWith("checkpoint-")),
              folder::toString);
        }
      }
    }
  }
}
