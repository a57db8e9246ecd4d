package dev.ashlar.server.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileSystemIdentityTest {
  @Test
  void foldersOfOneFileSystemHaveItsName(@TempDir Path root) throws Exception {
    FileSystemIdentity of = FileSystemIdentity.of(root);
    Path below = Files.createDirectories(root.resolve("a/b"));
    assertEquals(of.name(), FileSystemIdentity.of(below).name());
    assertFalse(FileSystemIdentity.of(below).isOwn());
    assertEquals(of.name(), FileSystemIdentity.of(root.resolve("not/there")).name());
    assertTrue(FileSystemIdentity.of(below).mayBeEmptied(of.name()));
    assertFalse(FileSystemIdentity.of(below).mayBeEmptied("uuid of-another"));
  }

  @Test
  void anotherOneThatIsMountedThereIsANewDrive(@TempDir Path root) throws Exception {
    FileSystemIdentity processes = FileSystemIdentity.of(Path.of("/proc"));
    assertTrue(processes.isOwn());
    assertTrue(processes.mayBeEmptied("uuid of-another"));
    assertNotEquals(FileSystemIdentity.of(root).name(), processes.name());
  }
}
