package dev.ashlar.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class RehearseCommandTest {
  @TempDir private Path temporary = Path.of("");

  @Test
  void servesItsOwnRequestsAndLeavesNothing() throws Exception {
    Path folder = temporary.resolve("rehearsal");
    Path foreign = Files.createDirectories(folder.resolve("somebody's"));
    int status =
        new CommandLine(new RehearseCommand())
            .execute("--folder", folder.toString(), "--seconds", "1");
    assertEquals(0, status);
    try (Stream<Path> left = Files.list(folder)) {
      assertEquals(List.of(foreign), left.toList());
    }
  }
}
