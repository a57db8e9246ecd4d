package dev.ashlar.server.node;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Which file system a folder is on, by a name that stays the same over restarts and differs between
 * file systems: its UUID, else its type and where it is mounted. Device numbers are neither.
 *
 * @param isOwn whether the folder is where it is mounted
 */
record FileSystemIdentity(String name, boolean isOwn) {
  private static final Path BY_UUID = Path.of("/dev/disk/by-uuid");

  /** Of the folder, or of its nearest parent that exists. */
  static FileSystemIdentity of(Path folder) throws IOException {
    Path existing = folder.toAbsolutePath().normalize();
    while (!Files.exists(existing)) {
      existing = parent(existing);
    }
    boolean isThere = existing.equals(folder.toAbsolutePath().normalize());
    Path real = existing.toRealPath();
    FileStore store = Files.getFileStore(real);
    Path mountPoint = mountPoint(real, store);
    String name =
        uuid(store.name())
            .map(uuid -> "uuid " + uuid)
            .orElseGet(() -> store.type() + " at " + mountPoint);
    return new FileSystemIdentity(name, isThere && mountPoint.equals(real));
  }

  private static Path mountPoint(Path folder, FileStore store) throws IOException {
    Path top = folder;
    while (top.getParent() != null && Files.getFileStore(parent(top)).equals(store)) {
      top = parent(top);
    }
    return top;
  }

  private static Path parent(Path folder) {
    Path parent = folder.getParent();
    return parent == null ? folder : parent;
  }

  /** Empty where the system does not tell: in memory, or in a container without devices. */
  private static Optional<String> uuid(String device) throws IOException {
    if (!device.startsWith("/") || !Files.exists(Path.of(device)) || !Files.isDirectory(BY_UUID)) {
      return Optional.empty();
    }
    Path real = Path.of(device).toRealPath();
    try (Stream<Path> links = Files.list(BY_UUID)) {
      return links
          .filter(link -> isSame(link, real))
          .map(link -> String.valueOf(link.getFileName()))
          .sorted()
          .findFirst();
    }
  }

  private static boolean isSame(Path link, Path device) {
    try {
      return link.toRealPath().equals(device);
    } catch (IOException e) {
      return false; // of a device that has just gone
    }
  }

  /**
   * Whether an empty folder here may be that of a drive which was on this file system. Another one
   * that is mounted at the folder is a new drive; otherwise the drive's own is not mounted.
   */
  boolean mayBeEmptied(String remembered) {
    return name.equals(remembered) || isOwn;
  }
}
