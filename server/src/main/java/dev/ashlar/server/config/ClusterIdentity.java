package dev.ashlar.server.config;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The name of this installation, made once and kept in a text file of every metadata folder. Drives
 * and metadata peers carry it too and refuse another.
 */
public final class ClusterIdentity {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterIdentity.class);
  private static final String FILE = "cluster";

  private ClusterIdentity() {}

  /** Whether this metadata folder belongs to a cluster. */
  static boolean isIn(Path folder) {
    return Files.exists(folder.resolve(FILE));
  }

  /**
   * The name that the folders agree on; a new one when all are new. Folders that lack it, or whose
   * file is damaged, get it; those that cannot be written go without.
   *
   * @throws IOException when folders of different clusters are mixed, or damage is all there is
   */
  public static UUID load(List<Path> folders) throws IOException {
    UUID found = null;
    IOException damage = null;
    List<Path> missing = new ArrayList<>();
    for (Path folder : folders) {
      UUID here = null;
      try {
        here = read(folder.resolve(FILE));
      } catch (IOException e) {
        LOG.error("Metadata folder {}: {}", folder, e.getMessage());
        damage = e;
      }
      if (here == null) {
        missing.add(folder);
      } else if (found != null && !here.equals(found)) {
        throw new IOException(
            "metadata folders of different clusters: %s is of %s, others of %s"
                .formatted(folder, here, found));
      } else {
        found = here;
      }
    }
    if (found == null && damage != null) {
      throw damage;
    }
    UUID cluster = found == null ? UUID.randomUUID() : found;
    write(cluster, missing, found == null);
    return cluster;
  }

  /**
   * @throws IOException when one of these folders belongs to another cluster
   */
  public static void require(UUID cluster, List<Path> folders) throws IOException {
    for (Path folder : folders) {
      UUID found = read(folder.resolve(FILE));
      if (found != null && !found.equals(cluster)) {
        throw new IOException(folder + " is of cluster " + found + ", not of " + cluster);
      }
    }
  }

  /** Writes the name into the folders that lack it. */
  public static void keep(UUID cluster, List<Path> folders) throws IOException {
    write(
        cluster,
        folders.stream().filter(folder -> !Files.exists(folder.resolve(FILE))).toList(),
        true);
  }

  private static void write(UUID cluster, List<Path> folders, boolean isNew) throws IOException {
    for (Path folder : folders) {
      try {
        DurableFile.write(folder.resolve(FILE), cluster + "\n", "rw-r--r--");
      } catch (IOException e) {
        if (isNew) {
          throw e;
        }
        LOG.error("Cannot write to metadata folder {}: {}", folder, e.getMessage());
      }
    }
  }

  private static @Nullable UUID read(Path file) throws IOException {
    if (!Files.exists(file)) {
      return null;
    }
    try {
      return UUID.fromString(Files.readString(file).strip());
    } catch (IllegalArgumentException | CharacterCodingException e) {
      throw new IOException(file + " does not hold a cluster's name", e);
    }
  }
}
