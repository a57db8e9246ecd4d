package dev.ashlar.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The name of this installation, made once and kept in a text file of every metadata folder. Drives
 * and metadata peers carry it too and refuse another.
 */
final class ClusterIdentity {
  private static final String FILE = "cluster";

  private ClusterIdentity() {}

  /** Whether this metadata folder belongs to a cluster. */
  static boolean isIn(Path folder) {
    return Files.exists(folder.resolve(FILE));
  }

  /**
   * The name that the folders agree on; a new one when all are new. Folders that lack it get it.
   *
   * @throws IOException when folders of different clusters are mixed
   */
  static UUID load(List<Path> folders) throws IOException {
    UUID found = null;
    for (Path folder : folders) {
      UUID here = read(folder.resolve(FILE));
      if (here != null && found != null && !here.equals(found)) {
        throw new IOException(
            "metadata folders of different clusters: "
                + folder
                + " is of "
                + here
                + ", others of "
                + found);
      }
      found = here == null ? found : here;
    }
    UUID cluster = found == null ? UUID.randomUUID() : found;
    for (Path folder : folders) {
      if (!Files.exists(folder.resolve(FILE))) {
        DurableFile.write(folder.resolve(FILE), cluster + "\n", "rw-r--r--");
      }
    }
    return cluster;
  }

  private static @Nullable UUID read(Path file) throws IOException {
    if (!Files.exists(file)) {
      return null;
    }
    try {
      return UUID.fromString(Files.readString(file).strip());
    } catch (IllegalArgumentException e) {
      throw new IOException(file + " does not hold a cluster's name", e);
    }
  }
}
