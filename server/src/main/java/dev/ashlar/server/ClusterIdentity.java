package dev.ashlar.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
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
        write(folder, cluster);
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

  private static void write(Path folder, UUID cluster) throws IOException {
    Files.createDirectories(folder);
    Path temporary = folder.resolve(FILE + ".new");
    try (FileChannel channel =
        FileChannel.open(
            temporary,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap((cluster + "\n").getBytes(StandardCharsets.UTF_8)));
      channel.force(true);
    }
    Files.move(temporary, folder.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
    try (FileChannel directory = FileChannel.open(folder, StandardOpenOption.READ)) {
      directory.force(true);
    }
  }
}
