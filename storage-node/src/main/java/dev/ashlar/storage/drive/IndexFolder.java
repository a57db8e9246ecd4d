package dev.ashlar.storage.drive;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The files of an index, all of which can be made anew from the log. */
final class IndexFolder {
  /** It names the list of all others: without it there is no index. */
  static final String FIRST = "CURRENT";

  private IndexFolder() {}

  /** Deletes an index that is closed. */
  static void discard(Path folder) throws IOException {
    Files.deleteIfExists(folder.resolve(FIRST));
    deleteAll(folder);
  }

  /** Deletes what is left of an index of which the beginning is gone, lest files of two mix. */
  static void finishDiscard(Path folder) throws IOException {
    if (!Files.exists(folder.resolve(FIRST))) {
      deleteAll(folder);
    }
  }

  private static void deleteAll(Path folder) throws IOException {
    List<Path> files;
    try (Stream<Path> entries = Files.list(folder)) {
      files = entries.filter(Files::isRegularFile).toList();
    }
    for (Path file : files) {
      Files.delete(file);
    }
  }
}
