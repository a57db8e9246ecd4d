package dev.ashlar.server.config;

import dev.ashlar.metadata.consensus.file.DurableFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Small text files that are there whole or not at all. */
public final class DurableFile {
  private DurableFile() {}

  /**
   * Writes beside, syncs, renames, syncs the folder.
   *
   * @param permissions as {@code rw-------}; the file never has others, however short
   */
  public static void write(Path file, String content, String permissions) throws IOException {
    Path folder = file.toAbsolutePath().getParent();
    if (folder == null) {
      throw new IOException(file + " is no file in a folder");
    }
    Files.createDirectories(folder);
    Path temporary = folder.resolve(file.getFileName() + ".new");
    Files.deleteIfExists(temporary);
    Files.createFile(
        temporary,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions)));
    DurableFiles.replace(file, temporary, content.getBytes(StandardCharsets.UTF_8));
  }
}
