package dev.ashlar.storage.drive;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Counts the open drives of the process per file system, because they share its free space. */
final class DrivesPerFileSystem {
  private final Map<Object, Integer> drivesByDevice = new ConcurrentHashMap<>();

  /** The device of a directory's file system; bind mounts share it. */
  static Object device(Path folder) throws IOException {
    return Files.getAttribute(folder, "unix:dev");
  }

  void opened(Object device) {
    drivesByDevice.merge(device, 1, Integer::sum);
  }

  void closed(Object device) {
    drivesByDevice.computeIfPresent(device, (key, drives) -> drives == 1 ? null : drives - 1);
  }

  int on(Object device) {
    return drivesByDevice.getOrDefault(device, 0);
  }
}
