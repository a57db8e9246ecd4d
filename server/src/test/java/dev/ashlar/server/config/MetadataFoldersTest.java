package dev.ashlar.server.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.protocol.model.Profile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MetadataFoldersTest {
  @TempDir private Path folder = Path.of("");

  @Test
  void onOneDeviceThereIsOneFolderBesideTheDrives() {
    List<Path> drives = List.of(folder.resolve("d1"), folder.resolve("d2"), folder.resolve("d3"));
    assertEquals(
        List.of(folder.resolve("metadata")),
        MetadataFolders.choose(drives, Profile.parse("1+2", 16384)));
  }

  /** A container often has nothing but this folder that stays. */
  @Test
  void theOnlyFolderHasItInside() {
    Path drive = folder.resolve("d1");
    assertEquals(
        List.of(drive.resolve("metadata")),
        MetadataFolders.choose(List.of(drive), Profile.parse("1+0", 16384)));
  }

  @Test
  void whatWasBesideTheOnlyFolderStaysThere() throws IOException {
    ClusterIdentity.load(List.of(folder.resolve("metadata")));
    assertEquals(
        List.of(folder.resolve("metadata")),
        MetadataFolders.choose(List.of(folder.resolve("d1")), Profile.parse("1+0", 16384)));
  }

  @ParameterizedTest
  @CsvSource({"2, 1+1, 1", "3, 2+1, 3", "4, 2+2, 3", "5, 3+2, 5", "6, 4+2, 5", "6, 5+1, 3"})
  void asManyPeersAsTheFoldersAllow(int drives, String profile, int peers) throws IOException {
    List<Path> folders = FolderPattern.expand(folder + "/d{1..." + drives + "}");
    ClusterIdentity.load(List.of(folder.resolve("d1/metadata")));
    assertEquals(
        folders.stream().limit(peers).map(drive -> drive.resolve("metadata")).toList(),
        MetadataFolders.choose(folders, Profile.parse(profile, 16384)));
  }

  /** Three peers, whatever the profile would lead to: it is not known before metadata is open. */
  @Test
  void asManyPeersAsThereAreStay() throws IOException {
    List<Path> folders = FolderPattern.expand(folder + "/d{1...6}");
    Path identity = MetadataFolders.peerFolder(folder.resolve("d2/metadata")).resolve("identity");
    Files.createDirectories(identity.getParent());
    Files.writeString(identity, "format=1\ncluster=c\nplace=2\nplaces=3\nstate=MEMBER\n");
    assertEquals(
        folders.stream().limit(3).map(drive -> drive.resolve("metadata")).toList(),
        MetadataFolders.choose(folders, Profile.parse("4+2", 16384)));
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
