package dev.ashlar.metadata.consensus.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrivateFolderTest {
  @TempDir private Path folder;

  private static String permissions(Path path) throws Exception {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  @Test
  void othersCannotEnterAFolderThatAPeerHasCreated() throws Exception {
    Path peer = folder.resolve("metadata").resolve("peer");
    PeerFolder.open(peer, UUID.randomUUID(), 0, 1);
    assertEquals("rwx------", permissions(peer));
  }

  @Test
  void aFolderThatIsThereKeepsItsPermissions() throws Exception {
    Path there = Files.createDirectory(folder.resolve("peer"));
    Files.setPosixFilePermissions(there, PosixFilePermissions.fromString("rwxr-x---"));
    PrivateFolder.create(there);
    assertEquals("rwxr-x---", permissions(there));
  }
}
