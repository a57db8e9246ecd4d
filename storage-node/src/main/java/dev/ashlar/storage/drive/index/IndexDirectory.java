package dev.ashlar.storage.drive.index;

import dev.ashlar.storage.io.PrivateFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The directory of an index. All of its files can be rebuilt from the log. */
public final class IndexDirectory {
  /** Names the current manifest: without this file there is no index. */
  static final String FIRST = "CURRENT";

  private static final String PROBE = "probe";
  private static final int PROBE_BYTES = 4096;

  private IndexDirectory() {}

  public static void discard(Path folder) throws IOException {
    Files.deleteIfExists(folder.resolve(FIRST));
    deleteAll(folder);
  }

  /**
   * Deletes the remains of an index whose {@value #FIRST} file is gone, so that files of two
   * indexes never mix.
   */
  static void finishDiscard(Path folder) throws IOException {
    if (!Files.exists(folder.resolve(FIRST))) {
      deleteAll(folder);
    }
  }

  /** Writes and deletes a small file; fails if that is impossible. */
  public static void probe(Path folder) throws IOException {
    Path probe = folder.resolve(PROBE);
    Set<OpenOption> options = Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try (FileChannel file = PrivateFiles.open(probe, options)) {
      file.write(ByteBuffer.allocate(PROBE_BYTES), 0);
      file.force(true);
    }
    Files.delete(probe);
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
