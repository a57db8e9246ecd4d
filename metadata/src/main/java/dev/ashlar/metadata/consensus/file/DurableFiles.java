package dev.ashlar.metadata.consensus.file;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Makes files and names durable; lists and removes directories. */
public final class DurableFiles {
  private DurableFiles() {}

  /** Syncs the content of a file, or the names in a directory. */
  public static void sync(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** Renames a file; the new name is durable when this returns. */
  public static void rename(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    syncDirectoryOf(to);
  }

  /**
   * Replaces a file, or creates it; durable when this returns.
   *
   * @param unfinished a temporary file in the same directory
   */
  public static void replace(Path file, Path unfinished, byte[] content) throws IOException {
    Files.write(unfinished, content);
    sync(unfinished);
    rename(unfinished, file);
  }

  /** Syncs the directory of a file, and so its name. */
  public static void syncDirectoryOf(Path file) throws IOException {
    Path directory = file.toAbsolutePath().getParent();
    if (directory == null) {
      throw new IOException(file + " is in no directory");
    }
    sync(directory);
  }

  /** What is in a directory. */
  public static List<Path> list(Path directory) throws IOException {
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** What is in a directory; nothing if there is none. */
  public static List<Path> listIfThere(Path directory) throws IOException {
    return Files.isDirectory(directory) ? list(directory) : List.of();
  }

  /** Removes a directory with its contents; the removal is not synced. */
  public static void deleteTree(Path root) throws IOException {
    for (Path path : inside(root)) {
      Files.delete(path);
    }
  }

  /** Syncs a directory tree, files first. */
  public static void syncTree(Path root) throws IOException {
    for (Path path : inside(root)) {
      sync(path);
    }
  }

  /** A directory tree, files first; empty if there is none. */
  private static List<Path> inside(Path root) throws IOException {
    if (!Files.exists(root)) {
      return List.of();
    }
    try (Stream<Path> tree = Files.walk(root)) {
      return tree.sorted(Comparator.reverseOrder()).toList();
    } catch (UncheckedIOException e) { // of a directory that cannot be listed
      throw e.getCause();
    }
  }
}
