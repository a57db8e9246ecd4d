package dev.ashlar.metadata.consensus.folder;

import dev.ashlar.metadata.consensus.file.DamagedFileException;
import dev.ashlar.metadata.consensus.file.DurableFiles;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The file {@code identity} of a metadata folder: its cluster, its place among the folders (from 0)
 * and its state.
 *
 * @param place {@link #NO_PLACE}, of 0 places, if it was formatted to join a Raft group
 * @param peer the id in the Raft group, unless it follows from the place; otherwise empty
 * @param format a random id chosen when it was formatted, for a group that spans processes;
 *     otherwise empty
 * @param group likewise, the formats of the folders of the founding peers, once the group exists
 */
public record FolderIdentity(
    String cluster,
    int place,
    int places,
    String peer,
    State state,
    String format,
    List<String> group) {
  public static final int NO_PLACE = -1;
  static final String FILE = "identity";
  static final String UNFINISHED = FILE + ".new";
  private static final Set<String> IN_EMPTY_FOLDER = Set.of("lost+found", UNFINISHED);
  private static final String FORMAT = "1";

  /** The last line: a CRC32C, 8 hex digits, of all bytes before that line. */
  private static final String SUM = "sum=";

  /** The format with a peer's id, or without a place. */
  private static final String FORMAT_JOINED = "2";

  public FolderIdentity {
    if ((place == NO_PLACE) != (places == 0)) {
      throw new IllegalArgumentException("place " + place + " of " + places);
    }
  }

  public enum State {
    /** Written before any folder is a member; nothing was acknowledged yet. */
    FORMATTING,
    /** A full peer. */
    MEMBER,
    /**
     * Found empty in an existing group: its peer has lost what it acknowledged and must not vote
     * before it holds that again.
     */
    REBUILDING,
    /**
     * The end of its log was cut off. Whether that was a torn write or acknowledged entries only
     * the other peers can tell.
     */
    CUT,
    /** A new, intact peer that is not known to be in the Raft group yet. */
    JOINING,
    /** It was a member and has been removed. */
    REMOVED
  }

  /** The identity of a folder whose group is in one process. */
  FolderIdentity(String cluster, int place, int places, State state) {
    this(cluster, place, places, "", state, "", List.of());
  }

  /**
   * @throws DamagedFileException when it is damaged; other failures may be temporary, or a newer
   *     build has written it
   */
  static FolderIdentity read(Path folder) throws IOException {
    Path file = folder.resolve(FILE);
    String text;
    try {
      text = Files.readString(file);
    } catch (CharacterCodingException e) {
      throw damaged(file, "it is not a text file", e);
    } catch (IOException e) {
      throw new IOException(
          file
              + " cannot be read: "
              + e
              + ". Check the drive and the file's permissions; keep the folder",
          e);
    }
    return parse(file, text);
  }

  private static DamagedFileException damaged(Path file, String why, @Nullable Exception cause) {
    DamagedFileException damaged = new DamagedFileException(file + " cannot be read: " + why);
    damaged.initCause(cause);
    return damaged;
  }

  private static FolderIdentity parse(Path file, String text) throws IOException {
    Properties properties = new Properties();
    try {
      requireSum(file, text);
      properties.load(new StringReader(text));
      requireFormat(file, properties.getProperty("format", ""), text.contains("\n" + SUM));
      return new FolderIdentity(
          properties.getProperty("cluster", ""),
          Integer.parseInt(properties.getProperty("place", "")) - 1,
          Integer.parseInt(properties.getProperty("places", "")),
          properties.getProperty("peer", ""),
          State.valueOf(properties.getProperty("state", "")),
          properties.getProperty("id", ""),
          names(properties.getProperty("group", "")));
    } catch (IllegalArgumentException e) {
      throw damaged(file, String.valueOf(e.getMessage()), e);
    }
  }

  /**
   * @param hasSum whether a checksum proves the content
   */
  private static void requireFormat(Path file, String format, boolean hasSum) throws IOException {
    if (format.equals(FORMAT) || format.equals(FORMAT_JOINED)) {
      return;
    }
    if (hasSum) {
      throw new IOException(
          file + " is of format " + format + ", written by a newer build: use that build");
    }
    throw damaged(file, "format " + format, null);
  }

  /** Earlier builds wrote no checksum. */
  private static void requireSum(Path file, String text) throws IOException {
    int at = text.lastIndexOf(SUM); // also where the end of the line before is damaged
    if (at >= 0 && !text.substring(at).equals(sum(text.substring(0, at)))) {
      throw damaged(file, "it is damaged (wrong checksum)", null);
    }
  }

  private static String sum(String text) {
    CRC32C crc = new CRC32C();
    crc.update(text.getBytes(StandardCharsets.UTF_8));
    return String.format("%s%08x%n", SUM, crc.getValue());
  }

  private boolean isOfPlace() {
    return place != NO_PLACE && peer.isEmpty();
  }

  void write(Path folder) throws IOException {
    String text =
        String.format(
            "format=%s%ncluster=%s%nplace=%d%nplaces=%d%nstate=%s%n",
            isOfPlace() ? FORMAT : FORMAT_JOINED, cluster, place + 1, places, state);
    if (!peer.isEmpty()) {
      text += String.format("peer=%s%n", peer);
    }
    if (!format.isEmpty()) {
      text += String.format("id=%s%ngroup=%s%n", format, String.join(",", group));
    }
    text += sum(text);
    Path file = folder.resolve(FILE);
    boolean isWritten = Files.exists(file) && Files.readString(file).equals(text);
    if (!isWritten) {
      Path unfinished = folder.resolve(UNFINISHED);
      DurableFiles.replace(file, unfinished, text.getBytes(StandardCharsets.UTF_8));
    }
    if (state == State.MEMBER) {
      RestoreMark.remove(folder); // from now on it has promises of its own
    }
  }

  /** Refuses a folder with any content but that of the file system or of interrupted formatting. */
  static void requireEmpty(Path folder) throws IOException {
    if (DurableFiles.list(folder).stream()
        .anyMatch(entry -> !IN_EMPTY_FOLDER.contains(entry.getFileName().toString()))) {
      throw new IOException(
          folder + " is not empty but contains no Ashlar metadata; it is left untouched");
    }
  }

  void requireCluster(Path folder, UUID expected) throws IOException {
    if (!cluster.equals(expected.toString())) {
      throw new IOException(
          folder + " contains metadata of cluster " + cluster + ", this is " + expected);
    }
  }

  private static List<String> names(String text) {
    return text.isEmpty() ? List.of() : List.of(text.split(",", -1));
  }
}
