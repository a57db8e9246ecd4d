package dev.ashlar.server.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.protocol.model.Profile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MetadataFoldersTest {
  @TempDir private Path folder = Path.of("");

  @Test
  void onOneDeviceThereIsOneFolderBesideTheDrives() {
    List<Path> drives = List.of(folder.resolve("d1"), folder.resolve("d2"), folder.resolve("d3"));
    assertEquals(
        List.of(folder.resolve("metadata")),
        MetadataFolders.choose(drives, Profile.parse("1+2", 16384)));
  }

  @Test
  void whatWasSpreadAtTheFirstStartStaysSpread() throws IOException {
    List<Path> drives =
        List.of("d1", "d2", "d3", "d4", "d5", "d6").stream().map(folder::resolve).toList();
    ClusterIdentity.load(List.of(folder.resolve("d3/metadata")));
    assertEquals(
        drives.stream().limit(5).map(drive -> drive.resolve("metadata")).toList(),
        MetadataFolders.choose(drives, Profile.parse("4+2", 16384)));
  }

  @Test
  void metadataOfADriveThatIsNotMountedIsNotMounted() throws IOException {
    Path present = folder.resolve("d1");
    Path away = folder.resolve("d2");
    List<Path> peers =
        List.of(present.resolve("metadata"), away.resolve("metadata"), folder.resolve("d22"));
    assertEquals(Set.of(away.resolve("metadata")), MetadataFolders.notMounted(peers, Set.of(away)));
    ClusterIdentity.load(peers.subList(1, 2));
    assertEquals(Set.of(), MetadataFolders.notMounted(peers, Set.of(away)));
  }
}
