package dev.ashlar.metadata.consensus;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.stream.Stream;

/** Making files and names durable. */
final class Syncs {
  private Syncs() {}

  /** A file's bytes, or the names in a directory. */
  static void sync(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** The file's name. */
  static void directoryOf(Path file) throws IOException {
    Path directory = file.toAbsolutePath().getParent();
    if (directory == null) {
      throw new IOException(file + " is in no directory");
    }
    sync(directory);
  }

  /** A directory with all that is in it: files first. */
  static void tree(Path root) throws IOException {
    if (!Files.exists(root)) {
      return;
    }
    try (Stream<Path> all = Files.walk(root)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        sync(path);
      }
    }
  }
}
