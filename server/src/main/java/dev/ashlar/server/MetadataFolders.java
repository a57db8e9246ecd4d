package dev.ashlar.server;

import dev.ashlar.protocol.model.Profile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

/**
 * Where metadata lives when nobody says: spread over the drives' devices, so far as there are any.
 */
final class MetadataFolders {
  private static final String NAME = "metadata";

  private MetadataFolders() {}

  /**
   * Five folders on distinct devices where two or more parity shards promise to survive two losses,
   * three for one, and a single one beside the drives where everything lies on one device or there
   * are too few devices for a majority to survive.
   */
  static List<Path> choose(List<Path> dataFolders, Profile profile) {
    Map<Path, FileStore> devices = devices(dataFolders);
    int wanted = profile.parityShards() >= 2 ? 5 : profile.parityShards() == 1 ? 3 : 1;
    if (new HashSet<>(devices.values()).size() < wanted || wanted == 1) {
      return List.of(parent(dataFolders.get(0)).resolve(NAME));
    }
    List<Path> folders = new ArrayList<>();
    HashSet<FileStore> taken = new HashSet<>();
    for (Path folder : dataFolders) {
      if (folders.size() < wanted && taken.add(devices.get(folder))) {
        folders.add(folder.resolve(NAME));
      }
    }
    return folders;
  }

  /** The device under each folder, or under its nearest parent that exists. */
  static Map<Path, FileStore> devices(List<Path> folders) {
    Map<Path, FileStore> devices = new HashMap<>();
    for (Path folder : folders) {
      Path existing = folder;
      while (!Files.exists(existing)) {
        existing = parent(existing);
      }
      try {
        devices.put(folder, Files.getFileStore(existing));
      } catch (IOException e) {
        throw new UncheckedIOException("cannot tell the device of " + existing, e);
      }
    }
    return devices;
  }

  private static Path parent(Path folder) {
    Path parent = folder.getParent();
    return parent == null ? folder : parent;
  }
}
