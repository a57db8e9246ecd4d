package dev.ashlar.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class RehearseCommandTest {
  @TempDir private Path temporary = Path.of("");

  @Test
  void servesItsOwnRequestsAndLeavesNothing() throws Exception {
    Path folder = temporary.resolve("rehearsal");
    Files.createDirectories(folder.resolve("left/by/one/that/was/killed"));
    int status =
        new CommandLine(new RehearseCommand())
            .execute("--folder", folder.toString(), "--seconds", "1");
    assertEquals(0, status);
    assertFalse(Files.exists(folder));
  }
}
