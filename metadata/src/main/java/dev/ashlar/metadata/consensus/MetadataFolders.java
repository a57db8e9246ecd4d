package dev.ashlar.metadata.consensus;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which folder is whose. Each folder has a file {@code identity} that names its cluster, its place
 * among the folders and what is known of it:
 *
 * <ul>
 *   <li>{@code formatting}: written before any folder is {@code member}; nothing was ever
 *       acknowledged;
 *   <li>{@code member}: a full peer;
 *   <li>{@code rebuilding}: the folder was found empty in a group that has members. Its peer has
 *       forgotten what it acknowledged and must not vote before it holds it again.
 * </ul>
 */
final class MetadataFolders {
  private static final Logger log = LoggerFactory.getLogger(MetadataFolders.class);
  private static final String FILE = "identity";
  private static final String FORMAT = "1";

  /** In a folder that counts as empty: of the file system, or of a format that was cut short. */
  private static final Set<String> MAY_BE_THERE = Set.of("lost+found", FILE + ".new");

  enum State {
    FORMATTING,
    MEMBER,
    REBUILDING
  }

  private record Identity(String cluster, int place, int places, State state) {}

  private final UUID clusterId;
  private final List<Path> folders;

  MetadataFolders(UUID clusterId, List<Path> folders) {
    this.clusterId = clusterId;
    this.folders = folders;
  }

  /** Checks, formats or prepares every folder; afterwards none is {@link State#FORMATTING}. */
  List<State> prepare() throws IOException {
    List<Optional<Identity>> found = new ArrayList<>();
    for (int place = 0; place < folders.size(); place++) {
      Files.createDirectories(folders.get(place));
      Optional<Identity> identity = read(place);
      check(place, identity);
      found.add(identity);
    }
    boolean isNew = found.stream().flatMap(Optional::stream).noneMatch(this::wasStarted);
    return isNew ? format() : admit(found);
  }

  /** Whether any of these folders belongs to a group that was once started. */
  static boolean holdMetadata(List<Path> folders) {
    return folders.stream()
        .map(folder -> folder.resolve(FILE))
        .filter(Files::exists)
        .anyMatch(MetadataFolders::isNotFormatting);
  }

  private static boolean isNotFormatting(Path file) {
    try {
      return !Files.readString(file).contains("state=" + State.FORMATTING);
    } catch (IOException e) {
      return true; // whatever it is, it is not nothing
    }
  }

  private boolean wasStarted(Identity identity) {
    return identity.state() != State.FORMATTING;
  }

  private void check(int place, Optional<Identity> found) throws IOException {
    Path folder = folders.get(place);
    if (found.isEmpty()) {
      try (Stream<Path> entries = Files.list(folder)) {
        if (entries.anyMatch(entry -> !MAY_BE_THERE.contains(entry.getFileName().toString()))) {
          throw new IOException(
              folder + " is not empty but holds no metadata of Ashlar; it is left untouched");
        }
      }
      return;
    }
    Identity identity = found.get();
    if (!identity.cluster().equals(clusterId.toString())) {
      throw new IOException(
          folder + " holds metadata of cluster " + identity.cluster() + ", this is " + clusterId);
    }
    if (identity.places() != folders.size()) {
      throw new IOException(
          String.format(
              "%s belongs to a group of %d metadata folders, but %d are named",
              folder, identity.places(), folders.size()));
    }
    if (identity.place() != place) {
      throw new IOException(
          String.format(
              "%s is metadata folder %d of its group, but is named at place %d: restore the order",
              folder, identity.place() + 1, place + 1));
    }
  }

  /** In two steps, so that a crash in between is not taken for the loss of folders. */
  private List<State> format() throws IOException {
    for (State state : List.of(State.FORMATTING, State.MEMBER)) {
      for (int place = 0; place < folders.size(); place++) {
        write(place, state);
      }
    }
    return folders.stream().map(folder -> State.MEMBER).toList();
  }

  private List<State> admit(List<Optional<Identity>> found) throws IOException {
    List<State> states = new ArrayList<>();
    for (int place = 0; place < folders.size(); place++) {
      // A formatting folder in a started group: the crash came between its two steps, before any
      // peer ran, so it has nothing to forget.
      State state =
          found.get(place).map(Identity::state).orElse(State.REBUILDING) == State.REBUILDING
              ? State.REBUILDING
              : State.MEMBER;
      states.add(state);
    }
    long members = states.stream().filter(state -> state == State.MEMBER).count();
    if (members <= folders.size() / 2) {
      throw new IOException(
          String.format(
              "only %d of %d metadata folders hold metadata; a majority is needed: %s",
              members, folders.size(), folders));
    }
    for (int place = 0; place < folders.size(); place++) {
      if (states.get(place) == State.REBUILDING && found.get(place).isEmpty()) {
        log.warn("{} is empty: its metadata is rebuilt from the others", folders.get(place));
      }
      write(place, states.get(place));
    }
    return states;
  }

  /** The rebuilt peer holds everything that was committed when it came back: it may vote. */
  void setMember(int place) throws IOException {
    write(place, State.MEMBER);
  }

  private Optional<Identity> read(int place) throws IOException {
    Path file = folders.get(place).resolve(FILE);
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    Properties properties = new Properties();
    try (var reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
      properties.load(reader);
      if (!FORMAT.equals(properties.getProperty("format"))) {
        throw new IOException("format " + properties.getProperty("format"));
      }
      return Optional.of(
          new Identity(
              properties.getProperty("cluster", ""),
              Integer.parseInt(properties.getProperty("place", "")) - 1,
              Integer.parseInt(properties.getProperty("places", "")),
              State.valueOf(properties.getProperty("state", ""))));
    } catch (IllegalArgumentException | IOException e) {
      throw new IOException(file + " cannot be read: " + e.getMessage(), e);
    }
  }

  private void write(int place, State state) throws IOException {
    String text =
        String.format(
            "format=%s%ncluster=%s%nplace=%d%nplaces=%d%nstate=%s%n",
            FORMAT, clusterId, place + 1, folders.size(), state);
    Path folder = folders.get(place);
    Path file = folder.resolve(FILE);
    if (Files.exists(file) && Files.readString(file).equals(text)) {
      return;
    }
    Path unfinished = folder.resolve(FILE + ".new");
    Files.writeString(unfinished, text);
    sync(unfinished);
    Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
    sync(folder);
  }

  private static void sync(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
