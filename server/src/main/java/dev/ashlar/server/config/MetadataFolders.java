package dev.ashlar.server.config;

import dev.ashlar.metadata.server.MetadataServer;
import dev.ashlar.protocol.model.Profile;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Where metadata lives when nobody says: spread over the drives' devices, so far as there are any.
 */
public final class MetadataFolders {
  private static final String NAME = "metadata";

  private MetadataFolders() {}

  /**
   * Where each drive folder is a device of its own, or mounted by itself: the first five of them
   * when two or more parity shards promise to survive two losses, the first three for one. The only
   * drive folder has it inside. Else a single folder beside the drives. What was chosen at the
   * first start stays.
   */
  public static List<Path> choose(List<Path> dataFolders, Profile profile) {
    Path beside = parent(dataFolders.get(0)).resolve(NAME);
    List<Path> inside = first(dataFolders, dataFolders.size());
    int peers = MetadataServer.places(inside.stream().map(MetadataFolders::peerFolder).toList());
    if (peers > 0) {
      return first(dataFolders, peers);
    }
    int wanted = profile.parityShards() >= 2 ? 5 : profile.parityShards() == 1 ? 3 : 1;
    while (wanted > dataFolders.size()) {
      wanted -= 2; // An even number survives no more losses than one less.
    }
    // Devices that are not mounted now must not change what was chosen at the first start.
    if (inside.stream().anyMatch(ClusterIdentity::isIn)) {
      return first(dataFolders, wanted);
    }
    boolean isBeside = ClusterIdentity.isIn(beside) || !areByThemselves(dataFolders);
    return isBeside ? List.of(beside) : first(dataFolders, wanted);
  }

  private static boolean areByThemselves(List<Path> dataFolders) {
    Map<Path, FileStore> devices = devices(dataFolders);
    return new HashSet<>(devices.values()).size() == dataFolders.size()
        || dataFolders.stream().allMatch(MetadataFolders::isMounted);
  }

  /** Whether another device is there than around it, as with the volumes of a container. */
  private static boolean isMounted(Path folder) {
    return new HashSet<>(devices(List.of(folder, parent(folder))).values()).size() == 2;
  }

  /** Where in a metadata folder the peer's files are. */
  public static Path peerFolder(Path metadataFolder) {
    return metadataFolder.resolve("peer");
  }

  private static List<Path> first(List<Path> dataFolders, int count) {
    return dataFolders.stream().limit(count).map(folder -> folder.resolve(NAME)).toList();
  }

  /**
   * Those of the metadata folders that lie below a drive folder which is not mounted: a peer made
   * there would be on the wrong device.
   */
  public static Set<Path> notMounted(List<Path> metadataFolders, Set<Path> drivesNotMounted) {
    Set<Path> missing = new HashSet<>();
    for (Path folder : metadataFolders) {
      for (Path drive : drivesNotMounted) {
        if (absolute(folder).startsWith(absolute(drive)) && !ClusterIdentity.isIn(folder)) {
          missing.add(folder);
        }
      }
    }
    return missing;
  }

  private static Path absolute(Path folder) {
    return folder.toAbsolutePath().normalize();
  }

  /** The device under each folder, or under its nearest parent that exists. */
  public static Map<Path, FileStore> devices(List<Path> folders) {
    Map<Path, FileStore> devices = new HashMap<>();
    for (Path folder : folders) {
      Path existing = folder;
      while (!Files.exists(existing)) {
        existing = parent(existing);
      }
      try {
        devices.put(folder, Files.getFileStore(existing));
      } catch (IOException e) {
        throw new IllegalArgumentException(
            "cannot tell the device of "
                + existing
                + ": "
                + e.getMessage()
                + " (the root of a chroot has to be a mount point: mount --bind ROOT ROOT)",
            e);
      }
    }
    return devices;
  }

  private static Path parent(Path folder) {
    Path parent = folder.getParent();
    return parent == null ? folder : parent;
  }
}
