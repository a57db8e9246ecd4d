package dev.ashlar.metadata.consensus.checkpoint;

import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.metadata.consensus.log.LogSegments;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.SnapshotRetentionPolicy;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.impl.FileListSnapshotInfo;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The checkpoints of a peer: directories {@code checkpoint-TERM-INDEX} in Ratis' state machine
 * directory. A directory without the suffix ".new" is complete and durable.
 *
 * <p>A checkpoint shares its table files with the live tables. Its second copy, {@code
 * copy-TERM-INDEX}, made later by {@link SecondCopy}, shares no files with either. The log is kept
 * from the latest checkpoint with a second copy on.
 */
public final class Checkpoints implements StateMachineStorage {
  private static final Logger LOG = LoggerFactory.getLogger(Checkpoints.class);
  private static final String PREFIX = "checkpoint-";
  private static final Pattern NAME = Pattern.compile(PREFIX + "(\\d{1,18})-(\\d{1,18})");
  static final String UNFINISHED = ".new";
  private static final String REMOVED = ".removed";
  private static final String COPY_PREFIX = "copy-";
  private static final String DAMAGED_PREFIX = "damaged-";

  /** An empty file whose modification time is that of the last verification. */
  static final String VERIFIED = "verified";

  private volatile @Nullable Path directory;
  private volatile @Nullable Path logDirectory;

  /** Held while files of checkpoints are compared, copied or replaced. */
  private final ReentrantLock files = new ReentrantLock();

  private @Nullable Checkpoint copying;
  private final OutgoingCheckpoints sent;

  /** Cached, because Ratis asks for it with every entry it sends. */
  private volatile @Nullable SnapshotInfo latestInfo;

  public Checkpoints() {
    this(new OutgoingCheckpoints(System::nanoTime));
  }

  public Checkpoints(OutgoingCheckpoints sent) {
    this.sent = sent;
  }

  /** The checkpoints that are kept because they are being sent to other peers. */
  OutgoingCheckpoints sent() {
    return sent;
  }

  @Override
  public void init(RaftStorage storage) throws IOException {
    init(
        storage.getStorageDir().getStateMachineDir().toPath(),
        storage.getStorageDir().getCurrentDir().toPath());
  }

  void init(Path checkpoints, Path log) throws IOException {
    directory = Files.createDirectories(checkpoints);
    logDirectory = log;
    reload();
  }

  /** Removes unfinished directories after a crash. Not while a checkpoint is being taken. */
  void clean() throws IOException {
    clean(path -> path.endsWith(UNFINISHED));
  }

  /** Likewise, but only second copies and removed directories. Under {@link #files}. */
  void cleanCopies() throws IOException {
    clean(path -> path.endsWith(UNFINISHED) && !path.startsWith(PREFIX));
  }

  private synchronized void clean(Predicate<String> isUnfinished) throws IOException {
    for (Path path : named(path -> isUnfinished.test(path) || path.endsWith(REMOVED))) {
      DurableFiles.deleteTree(path);
    }
  }

  private List<Path> named(Predicate<String> isMeant) throws IOException {
    return DurableFiles.listIfThere(directory()).stream()
        .filter(path -> isMeant.test(path.getFileName().toString()))
        .toList();
  }

  /** The directory of the Raft log. */
  public Path logDirectory() {
    return Objects.requireNonNull(logDirectory, "not initialised");
  }

  public ReentrantLock files() {
    return files;
  }

  /** Determines the latest checkpoint again: Ratis may have installed one. */
  void reload() {
    latestInfo = latest().map(this::info).orElse(null);
  }

  Path directory() {
    return Objects.requireNonNull(directory, "not initialised");
  }

  public record Checkpoint(TermIndex position, Path path) {}

  public Optional<Checkpoint> latest() {
    return all().stream().max(Comparator.comparing(Checkpoint::position));
  }

  private List<Checkpoint> all() {
    Path present = directory;
    try {
      List<Path> entries = present == null ? List.of() : DurableFiles.listIfThere(present);
      return entries.stream().flatMap(path -> parse(path).stream()).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Optional<Checkpoint> parse(Path path) {
    Matcher name = NAME.matcher(path.getFileName().toString());
    if (!name.matches()) {
      return Optional.empty();
    }
    long term = Long.parseLong(name.group(1));
    long index = Long.parseLong(name.group(2));
    return Optional.of(new Checkpoint(TermIndex.valueOf(term, index), path));
  }

  /**
   * @param write makes a directory with the tables as they are at this position
   */
  public void take(TermIndex position, Consumer<Path> write)
      throws IOException, InterruptedException {
    if (!Files.isDirectory(directory())) {
      throw new NoSuchFileException(directory() + " is being replaced");
    }
    Path unfinished = directory().resolve(name(position) + UNFINISHED);
    DurableFiles.deleteTree(unfinished);
    write.accept(unfinished);
    for (Path file : DurableFiles.list(unfinished)) {
      DurableFiles.sync(file);
    }
    FileSums.ofNew(unfinished).write(unfinished);
    DurableFiles.rename(unfinished, directory().resolve(name(position)));
    reload();
  }

  // ---- Second copies ----

  Path copyOf(Checkpoint checkpoint) {
    return directory().resolve(COPY_PREFIX + suffix(checkpoint.position()));
  }

  /** The latest checkpoint with a second copy. */
  Optional<Checkpoint> copied() {
    return all().stream().filter(this::isCopied).max(Comparator.comparing(Checkpoint::position));
  }

  boolean isCopied(Checkpoint checkpoint) {
    return Files.isDirectory(copyOf(checkpoint));
  }

  /**
   * The latest checkpoint, if it has no second copy yet. Until {@link #endCopy} no other thread
   * removes it.
   */
  synchronized Optional<Checkpoint> beginCopy() {
    Optional<Checkpoint> latest = latest().filter(checkpoint -> !isCopied(checkpoint));
    copying = latest.orElse(null);
    return latest;
  }

  synchronized void endCopy() {
    copying = null;
  }

  /**
   * What the tables can be rebuilt from, in the order of preference: the latest checkpoint, one
   * with a second copy, and an empty table; each only if the log reaches back to it.
   */
  List<Optional<Checkpoint>> sources() throws IOException {
    long logStart = LogSegments.firstIndex(logDirectory());
    List<Optional<Checkpoint>> sources = new ArrayList<>();
    Optional<Checkpoint> latest = latest();
    latest.ifPresent(checkpoint -> sources.add(latest));
    Optional<Checkpoint> copied = copied();
    if (copied.isPresent()
        && !copied.equals(latest)
        && logStart <= copied.get().position().getIndex() + 1) {
      sources.add(copied);
    }
    boolean isNew = latest.isEmpty() && logStart == Long.MAX_VALUE;
    if (logStart == 0 || isNew) {
      sources.add(Optional.empty());
    }
    return sources;
  }

  /** Renames later checkpoints, which turned out damaged, until there is another one. */
  void setAsideBehind(Optional<Checkpoint> whole) throws IOException {
    for (Checkpoint checkpoint : all()) {
      if (whole.isEmpty() || checkpoint.position().compareTo(whole.get().position()) > 0) {
        Path aside = directory().resolve(DAMAGED_PREFIX + suffix(checkpoint.position()));
        DurableFiles.deleteTree(aside);
        DurableFiles.rename(checkpoint.path(), aside);
      }
    }
    reload();
  }

  /** Removes all earlier checkpoints that are not being sent, and their second copies. */
  synchronized void removeBefore(Checkpoint needed) throws IOException {
    for (Checkpoint checkpoint : all()) {
      if (checkpoint.position().compareTo(needed.position()) < 0
          && !sent.isSent(checkpoint.position())) {
        remove(checkpoint);
      }
    }
    Path own = copyOf(needed);
    for (Path path : named(name -> name.startsWith(COPY_PREFIX))) {
      if (!path.equals(own)) {
        remove(path);
      }
    }
  }

  /** Removes damaged checkpoints, once a later one has a second copy. */
  synchronized void removeDamaged() throws IOException {
    for (Path path : named(name -> name.startsWith(DAMAGED_PREFIX))) {
      remove(path);
    }
  }

  private void remove(Checkpoint checkpoint) throws IOException {
    remove(checkpoint.path());
    sent.removed(checkpoint.position());
  }

  /** Renames first, so that an incomplete directory never has the name of a complete one. */
  private void remove(Path path) throws IOException {
    Path removed = path.resolveSibling(path.getFileName() + REMOVED);
    DurableFiles.deleteTree(removed);
    DurableFiles.rename(path, removed);
    DurableFiles.deleteTree(removed);
  }

  private static String name(TermIndex position) {
    return PREFIX + suffix(position);
  }

  private static String suffix(TermIndex position) {
    return position.getTerm() + "-" + position.getIndex();
  }

  /** Makes {@code to} a copy of the checkpoint. Table files never change, so they are linked. */
  static void restore(Path checkpoint, Path to) throws IOException {
    makeEmpty(to);
    for (Path file : content(checkpoint)) {
      Path target = to.resolve(file.getFileName());
      if (FileSums.isTable(file.getFileName().toString())) {
        linkOrCopy(file, target);
      } else {
        Files.copy(file, target);
      }
    }
  }

  static void makeEmpty(Path directory) throws IOException {
    DurableFiles.deleteTree(directory);
    Files.createDirectory(directory); // its parent may be about to be replaced
  }

  /** The files of the tables in a checkpoint. */
  static List<Path> content(Path checkpoint) throws IOException {
    return DurableFiles.list(checkpoint).stream().filter(FileSums::isContent).toList();
  }

  static void linkOrCopy(Path file, Path target) throws IOException {
    try {
      Files.createLink(target, file);
    } catch (UnsupportedOperationException | FileSystemException e) {
      Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  @Override
  public @Nullable SnapshotInfo getLatestSnapshot() {
    return latestInfo;
  }

  private SnapshotInfo info(Checkpoint checkpoint) {
    try {
      List<FileInfo> infos =
          content(checkpoint.path()).stream()
              .map(file -> sent.file(file, checkpoint, this::setVerificationDue))
              .toList();
      return new FileListSnapshotInfo(infos, checkpoint.position());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Makes the keeper verify all files soon, because damage was found. */
  private void setVerificationDue() {
    try {
      Path verified = directory().resolve(VERIFIED);
      if (Files.exists(verified)) {
        Files.setLastModifiedTime(verified, FileTime.fromMillis(0));
      }
    } catch (IOException e) {
      LOG.warn("Verification of {} is postponed.", directory(), e);
    }
  }

  @Override
  public void format() {
    // Ratis formats its whole directory before it asks for this.
  }

  /**
   * Keeps the latest checkpoint, the latest with a second copy, the one that is being copied and
   * those that are being sent.
   */
  @Override
  public synchronized void cleanupOldSnapshots(SnapshotRetentionPolicy policy) throws IOException {
    Optional<Checkpoint> latest = latest();
    Optional<Checkpoint> copied = copied();
    for (Checkpoint checkpoint : all()) {
      Optional<Checkpoint> one = Optional.of(checkpoint);
      if (!one.equals(latest)
          && !one.equals(copied)
          && !checkpoint.equals(copying)
          && !sent.isSent(checkpoint.position())) {
        remove(checkpoint);
      }
    }
  }
}
