package dev.ashlar.metadata.consensus.folder;

import dev.ashlar.metadata.consensus.folder.FolderIdentity.State;
import dev.ashlar.metadata.consensus.folder.FolderStatus.Standing;
import dev.ashlar.metadata.consensus.log.LogMark;
import dev.ashlar.metadata.consensus.log.RaftFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The metadata folders of a process that runs all peers, and which of them take part. While a
 * majority is intact, a damaged folder is left out and not changed: its peer neither votes nor
 * acknowledges. An empty folder, including a damaged one that was cleared, is rebuilt. Intact
 * folders in the wrong order are refused.
 */
public final class MetadataFolders {
  private static final Logger LOG = LoggerFactory.getLogger(MetadataFolders.class);

  private final UUID clusterId;

  private final List<Path> folders;
  private final List<FolderStatus> statuses;
  private boolean isNew;

  /**
   * @param notMounted folders that are not mounted, so that their path has other content
   */
  public MetadataFolders(UUID clusterId, List<Path> folders, Set<Path> notMounted) {
    this.clusterId = clusterId;
    this.folders = folders;
    this.statuses =
        new CopyOnWriteArrayList<>(
            folders.stream()
                .map(
                    folder ->
                        notMounted.contains(folder)
                            ? new FolderStatus(folder, Standing.LEFT_OUT, "it is not mounted")
                            : new FolderStatus(folder, Standing.MEMBER, ""))
                .toList());
  }

  /**
   * Whether any of these folders belongs to a Raft group that was started before, or was restored
   * from a backup.
   */
  public static boolean holdMetadata(List<Path> folders) {
    return folders.stream()
        .anyMatch(
            folder ->
                isRestored(folder)
                    || (Files.exists(folder.resolve(FolderIdentity.FILE))
                        && isNotFormatting(folder)));
  }

  private static boolean isRestored(Path folder) {
    try {
      return RestoreMark.in(folder).isPresent();
    } catch (IOException e) {
      return true; // a damaged mark is not an empty folder
    }
  }

  /** Refuses a restored folder whose backup is of another cluster. */
  static void requireRestored(Path folder, UUID cluster) throws IOException {
    if (!Files.isDirectory(raftDirectory(folder).resolve(cluster.toString()))) {
      throw new IOException(
          folder + " was restored from a backup of another cluster, this is " + cluster);
    }
  }

  /** How many folders the set has to which any of these folders belongs; 0 if none does. */
  public static int places(List<Path> folders) {
    for (Path folder : folders) {
      try {
        if (Files.exists(folder.resolve(FolderIdentity.FILE))) {
          return FolderIdentity.read(folder).places();
        }
      } catch (IOException e) {
        LOG.debug("{} does not say how many metadata folders there are.", folder, e);
      }
    }
    return 0;
  }

  private static boolean isNotFormatting(Path folder) {
    try {
      return FolderIdentity.read(folder).state() != State.FORMATTING;
    } catch (IOException e) {
      return true; // an unreadable identity is not an empty folder
    }
  }

  public List<FolderStatus> statuses() {
    return List.copyOf(statuses);
  }

  private Standing standing(int place) {
    return statuses.get(place).standing();
  }

  public boolean isLeftOut(int place) {
    return standing(place) == Standing.LEFT_OUT;
  }

  public boolean isRebuilding(int place) {
    return standing(place) == Standing.REBUILDING;
  }

  /** The peer that should lead at the start. */
  public int firstMember() {
    int place = 0;
    while (standing(place) != Standing.MEMBER) {
      place++;
    }
    return place;
  }

  /** Checks every folder and decides which take part; formats those of a new group. */
  public void prepare() throws IOException {
    List<Optional<FolderIdentity>> found = new ArrayList<>();
    for (int place = 0; place < folders.size(); place++) {
      found.add(inspect(place));
    }
    isNew =
        found.stream()
            .flatMap(Optional::stream)
            .allMatch(identity -> identity.state() == State.FORMATTING);
    if (isNew) {
      requireAll();
      requireOneRestore();
      writeAll(State.FORMATTING);
    } else {
      admit(found);
    }
  }

  /** A new group begins with empty folders, or with those of one restore. */
  private void requireOneRestore() throws IOException {
    Set<Optional<RestoreMark>> marks = new HashSet<>();
    for (Path folder : folders) {
      Optional<RestoreMark> mark = RestoreMark.in(folder);
      if (mark.isPresent()) {
        requireRestored(folder, clusterId);
      }
      marks.add(mark);
    }
    if (marks.size() > 1) {
      throw new IOException(
          "not all metadata folders were restored by the same restore from a backup: empty all of "
              + folders
              + " and restore again");
    }
  }

  /** Empty if the folder is empty or left out. */
  private Optional<FolderIdentity> inspect(int place) throws IOException {
    if (isLeftOut(place)) {
      return Optional.empty();
    }
    Path folder = folders.get(place);
    FolderIdentity identity;
    try {
      PrivateFolder.create(folder);
      if (!Files.exists(folder.resolve(FolderIdentity.FILE))) {
        if (RestoreMark.in(folder).isEmpty()) {
          FolderIdentity.requireEmpty(folder);
        }
        return Optional.empty();
      }
      identity = FolderIdentity.read(folder);
    } catch (IOException e) {
      setLeftOut(place, e);
      return Optional.empty();
    }
    requireInPlace(place, identity);
    return Optional.of(identity);
  }

  private void requireInPlace(int place, FolderIdentity identity) throws IOException {
    Path folder = folders.get(place);
    identity.requireCluster(folder, clusterId);
    if (!identity.format().isEmpty()) {
      throw new IOException(folder + " belongs to a Raft group with one process per folder");
    }
    if (identity.places() != folders.size()) {
      throw new IOException(
          String.format(
              "%s belongs to a set of %d metadata folders, but %d are configured",
              folder, identity.places(), folders.size()));
    }
    if (identity.place() != place) {
      throw new IOException(
          String.format(
              "%s is metadata folder %d of its set, but is configured at position %d: "
                  + "restore the order",
              folder, identity.place() + 1, place + 1));
    }
  }

  private void admit(List<Optional<FolderIdentity>> found) throws IOException {
    List<Integer> cut = new ArrayList<>();
    for (int place = 0; place < folders.size(); place++) {
      if (!isLeftOut(place) && admit(place, found.get(place))) {
        cut.add(place);
      }
    }
    // If the drive rather than a crash lost the end of the log, that end may have been
    // acknowledged: then the others have it and decide. After a power cut it may be missing in all
    // folders.
    if (members() - cut.size() > folders.size() / 2) {
      cut.forEach(place -> set(place, Standing.REBUILDING, "the end of its log was cut off"));
    }
    requireMajority();
    for (int place = 0; place < folders.size(); place++) {
      if (!isLeftOut(place)) {
        record(place);
      }
    }
    requireMajority();
  }

  /**
   * Decides the standing of a folder of an existing group.
   *
   * @return whether the end of its log had to be cut
   */
  private boolean admit(int place, Optional<FolderIdentity> found) {
    Path folder = folders.get(place);
    State state = found.map(FolderIdentity::state).orElse(State.REBUILDING);
    // A crash during formatting: no peer has run, so nothing was acknowledged.
    if (state == State.FORMATTING) {
      return false;
    }
    try {
      if (found.isEmpty() && RestoreMark.in(folder).isPresent()) {
        throw new IOException(
            "it was restored from a backup, but other folders have metadata already: empty it");
      }
      if (state == State.REBUILDING && RaftFiles.isNew(folder, storage(folder))) {
        set(place, Standing.REBUILDING, "");
        LOG.warn("Metadata folder {} was empty; it is being rebuilt from the others.", folder);
        return false;
      }
      RaftFiles.Found end = RaftFiles.mend(folder, storage(folder), () -> recordCut(place, state));
      if (end.end() == RaftFiles.End.SHORT) {
        set(place, Standing.REBUILDING, end.account());
        LOG.error("Metadata folder {} is damaged: {}", folder, end.account());
      } else if (end.end() == RaftFiles.End.CONFIRMED) {
        write(
            place,
            State.MEMBER); // at once: the confirmation is used up, whatever the state of the others
        new LogMark(folder).useConfirmation(end.last());
        return false;
      } else if (state == State.REBUILDING) {
        set(place, Standing.REBUILDING, "its rebuild from the others is not complete yet");
        LOG.warn("The rebuild of metadata folder {} from the others continues.", folder);
      }
      return state == State.CUT || (state == State.MEMBER && end.end() == RaftFiles.End.CUT);
    } catch (IOException e) {
      setLeftOut(place, e);
      return false;
    }
  }

  /**
   * The cut is recorded until the folder is a member again or rebuilt: this start may still fail.
   */
  private void recordCut(int place, State state) throws IOException {
    if (state == State.MEMBER) {
      write(place, State.CUT);
    }
  }

  private Path storage(Path folder) {
    return raftDirectory(folder).resolve(clusterId.toString());
  }

  /** Where Ratis keeps a directory per Raft group. */
  public static Path raftDirectory(Path folder) {
    return folder.resolve("raft");
  }

  private void record(int place) {
    State state = standing(place) == Standing.MEMBER ? State.MEMBER : State.REBUILDING;
    try {
      write(place, state);
    } catch (IOException e) {
      setLeftOut(place, e);
    }
  }

  private void writeAll(State state) throws IOException {
    for (int place = 0; place < folders.size(); place++) {
      write(place, state);
    }
  }

  private void write(int place, State state) throws IOException {
    new FolderIdentity(clusterId.toString(), place, folders.size(), state)
        .write(folders.get(place));
  }

  /**
   * All peers have created their files and none has run. Only now do the folders of a new group
   * become members, because a member without files has lost them.
   */
  public void peersAreMade() throws IOException {
    if (isNew) {
      writeAll(State.MEMBER);
    }
  }

  /** The rebuilt peer holds everything that was committed when it returned, and may vote. */
  public void setMember(int place) throws IOException {
    write(place, State.MEMBER);
    set(place, Standing.MEMBER, "");
  }

  /**
   * Leaves out a folder that turned out to be damaged.
   *
   * @throws IOException when too few folders remain, or at the first start, which needs all of them
   */
  public void leaveOut(int place, Exception damage) throws IOException {
    setLeftOut(place, damage);
    if (isNew) {
      requireAll();
    }
    requireMajority();
  }

  private void setLeftOut(int place, Exception damage) {
    Throwable root = damage;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    String reason = root.getMessage() == null ? root.toString() : root.getMessage();
    set(place, Standing.LEFT_OUT, reason);
    LOG.error(
        "Metadata folder {} is LEFT OUT: {}. {}", folders.get(place), reason, remedyOfLeftOut());
    LOG.debug("Metadata folder {}", folders.get(place), damage);
  }

  private String remedyOfLeftOut() {
    return folders.size() == 1
        ? "It is the only one: repair it or restore a copy. Do not empty it"
        : "Repair it; or, only if a majority of the others is intact, stop the server "
            + "and empty the folder";
  }

  private void set(int place, Standing standing, String reason) {
    statuses.set(place, new FolderStatus(folders.get(place), standing, reason));
  }

  private long members() {
    return statuses.stream().filter(status -> status.standing() == Standing.MEMBER).count();
  }

  private void requireMajority() throws IOException {
    if (members() <= folders.size() / 2) {
      throw new IOException(
          String.format(
              "only %d of %d metadata folders are intact; a majority is required: %s",
              members(), folders.size(), accounts()));
    }
  }

  private void requireAll() throws IOException {
    if (members() < folders.size()) {
      throw new IOException("the first start requires every metadata folder: " + accounts());
    }
  }

  private String accounts() {
    return statuses.stream()
        .filter(status -> status.standing() != Standing.MEMBER)
        .map(
            status ->
                status.folder()
                    + (status.reason().isEmpty() ? " was found empty" : ": " + status.reason()))
        .collect(Collectors.joining("; "));
  }
}
