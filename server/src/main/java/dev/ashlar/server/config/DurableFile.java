package dev.ashlar.server.config;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

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
    Set<StandardOpenOption> options =
        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions));
    try (FileChannel channel = FileChannel.open(temporary, options, mode)) {
      ByteBuffer bytes = ByteBuffer.wrap(content.getBytes(StandardCharsets.UTF_8));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
    Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    try (FileChannel directory = FileChannel.open(folder, StandardOpenOption.READ)) {
      directory.force(true);
    }
  }
}
