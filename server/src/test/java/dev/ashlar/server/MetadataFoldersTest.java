package dev.ashlar.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.protocol.model.Profile;
import java.nio.file.Path;
import java.util.List;
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
}
