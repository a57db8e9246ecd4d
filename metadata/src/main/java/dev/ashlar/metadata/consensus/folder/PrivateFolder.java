package dev.ashlar.metadata.consensus.folder;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Folders of metadata: secrets of access keys are in them. */
public final class PrivateFolder {
  private PrivateFolder() {}

  /** Creates what is missing of the folder so that only the server's user can enter it. */
  public static void create(Path folder) throws IOException {
    if (folder.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      Files.createDirectories(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } else {
      Files.createDirectories(folder);
    }
  }
}
