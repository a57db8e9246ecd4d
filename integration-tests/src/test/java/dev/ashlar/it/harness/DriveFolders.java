package dev.ashlar.it.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Drives that fail and come back, while the server is down. */
public final class DriveFolders {
  private DriveFolders() {}

  /** Nothing can be opened or made there, not even by root. */
  public static void replaceByFile(Path folder) {
    try {
      Files.move(folder, aside(folder));
      Files.createFile(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** It is lost, and its folder is empty; the server is told that it will not be back. */
  public static void replaceForGood(Path folder) {
    ServerProcess.deleteRecursively(folder);
    try {
      Files.createDirectories(folder);
      Files.createFile(folder.resolve("replacement-confirmed"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** It is there again, as it was when it was replaced. */
  public static void repair(Path folder) {
    try {
      Files.delete(folder);
      Files.move(aside(folder), folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path aside(Path folder) {
    return folder.resolveSibling(folder.getFileName() + ".aside");
  }
}
