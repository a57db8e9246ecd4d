package dev.ashlar.storage.io;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Creates files and directories that only the server's user can access, regardless of the umask.
 */
public final class PrivateFiles {
  private PrivateFiles() {}

  /** Creates the directory and missing parents. */
  public static void createFolders(Path folder) throws IOException {
    Files.createDirectories(folder, mode(folder, "rwx------"));
  }

  public static FileChannel open(Path file, Set<? extends OpenOption> options) throws IOException {
    return FileChannel.open(file, options, mode(file, "rw-------"));
  }

  private static FileAttribute<?>[] mode(Path path, String permissions) {
    if (!path.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      return new FileAttribute<?>[0];
    }
    return new FileAttribute<?>[] {
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
    };
  }
}
