package dev.ashlar.server.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterIdentityTest {
  @TempDir private Path folder = Path.of("");

  @Test
  void isMadeOnceAndHealsALostFolder() throws IOException {
    List<Path> folders = List.of(folder.resolve("a"), folder.resolve("b"), folder.resolve("c"));
    UUID cluster = ClusterIdentity.load(folders);
    Files.delete(folder.resolve("a/cluster"));
    assertEquals(cluster, ClusterIdentity.load(folders));
    assertEquals(cluster.toString(), Files.readString(folder.resolve("a/cluster")).strip());
  }

  @Test
  void mixedFoldersAreRefused() throws IOException {
    ClusterIdentity.load(List.of(folder.resolve("a")));
    ClusterIdentity.load(List.of(folder.resolve("b")));
    assertThrows(
        IOException.class,
        () -> ClusterIdentity.load(List.of(folder.resolve("a"), folder.resolve("b"))));
  }

  @Test
  void aDamagedFileIsOutvotedAndMended() throws IOException {
    List<Path> folders = List.of(folder.resolve("a"), folder.resolve("b"), folder.resolve("c"));
    UUID cluster = ClusterIdentity.load(folders);
    Files.write(folder.resolve("a/cluster"), new byte[] {(byte) 0xC0, 0, 0});
    Files.delete(folder.resolve("b/cluster"));
    Files.createDirectory(folder.resolve("b/cluster")); // can neither be read nor replaced
    Files.createFile(folder.resolve("b/cluster/x"));
    assertEquals(cluster, ClusterIdentity.load(folders));
    assertEquals(cluster.toString(), Files.readString(folder.resolve("a/cluster")).strip());
  }

  @Test
  void noNewNameIsMadeOverDamage() throws IOException {
    List<Path> folders = List.of(folder.resolve("a"), folder.resolve("b"));
    Files.createDirectory(folder.resolve("a"));
    Files.write(folder.resolve("a/cluster"), new byte[40]);
    assertThrows(IOException.class, () -> ClusterIdentity.load(folders));
  }
}
