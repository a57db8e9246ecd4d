package dev.ashlar.server.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderLocksTest {
  @TempDir private Path folder = Path.of("");

  @Test
  void oneHolderAtATime() throws IOException {
    List<Path> folders = List.of(folder);
    try (FolderLocks second = new FolderLocks()) {
      try (FolderLocks first = new FolderLocks()) {
        first.takeExisting(folders);
        first.takeExisting(folders);
        assertRefused(second, folders);
      }
      second.takeExisting(folders);
    }
  }

  private void assertRefused(FolderLocks second, List<Path> folders) throws IOException {
    IOException refusal = assertThrows(IOException.class, () -> second.takeExisting(folders));
    String pid = Long.toString(ProcessHandle.current().pid());
    assertTrue(refusal.toString().contains(folder + " is in use"), refusal.toString());
    assertEquals(pid, Files.readString(folder.resolve("lock")).strip());
  }

  @Test
  void whatIsNotThereIsNotMade() throws IOException {
    Path missing = folder.resolve("missing");
    try (FolderLocks locks = new FolderLocks()) {
      locks.takeExisting(List.of(missing));
    }
    assertFalse(Files.exists(missing));
  }
}
