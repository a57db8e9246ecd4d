package dev.ashlar.metadata.consensus;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Properties;

/**
 * The file {@code identity} of a metadata folder: its cluster, its place among the folders (from 0)
 * and what is known of it.
 *
 * @param format chosen when it was formatted, for a group whose peers are in several processes;
 *     else empty
 * @param group likewise: the formats of the folders with which the group began, once it has
 */
record FolderIdentity(
    String cluster, int place, int places, State state, String format, List<String> group) {
  static final String FILE = "identity";
  static final String UNFINISHED = FILE + ".new";
  private static final String FORMAT = "1";

  enum State {
    /** Written before any folder is a member; nothing was ever acknowledged. */
    FORMATTING,
    /** A full peer. */
    MEMBER,
    /**
     * Found empty in a group that has members: its peer has forgotten what it acknowledged and must
     * not vote before it holds it again.
     */
    REBUILDING,
    /**
     * The end of its log was cut off. Whether that was the torn end of a write or something it had
     * acknowledged is for the peers of the other processes to tell.
     */
    CUT
  }

  /** Of a folder whose group is all in one process. */
  FolderIdentity(String cluster, int place, int places, State state) {
    this(cluster, place, places, state, "", List.of());
  }

  static FolderIdentity read(Path folder) throws IOException {
    Path file = folder.resolve(FILE);
    Properties properties = new Properties();
    try (var reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
      properties.load(reader);
      if (!FORMAT.equals(properties.getProperty("format"))) {
        throw new IOException("format " + properties.getProperty("format"));
      }
      return new FolderIdentity(
          properties.getProperty("cluster", ""),
          Integer.parseInt(properties.getProperty("place", "")) - 1,
          Integer.parseInt(properties.getProperty("places", "")),
          State.valueOf(properties.getProperty("state", "")),
          properties.getProperty("id", ""),
          names(properties.getProperty("group", "")));
    } catch (IllegalArgumentException | IOException e) {
      throw new IOException(file + " cannot be read: " + e.getMessage(), e);
    }
  }

  void write(Path folder) throws IOException {
    String text =
        String.format(
            "format=%s%ncluster=%s%nplace=%d%nplaces=%d%nstate=%s%n",
            FORMAT, cluster, place + 1, places, state);
    if (!format.isEmpty()) {
      text += String.format("id=%s%ngroup=%s%n", format, String.join(",", group));
    }
    Path file = folder.resolve(FILE);
    if (Files.exists(file) && Files.readString(file).equals(text)) {
      return;
    }
    Path unfinished = folder.resolve(UNFINISHED);
    Files.writeString(unfinished, text);
    sync(unfinished);
    Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
    sync(folder);
  }

  private static List<String> names(String text) {
    return text.isEmpty() ? List.of() : List.of(text.split(",", -1));
  }

  private static void sync(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
