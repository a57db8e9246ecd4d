package dev.ashlar.metadata.consensus;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.SnapshotRetentionPolicy;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.impl.FileListSnapshotInfo;
import org.apache.ratis.util.MD5FileUtil;
import org.jspecify.annotations.Nullable;

/**
 * The checkpoints of one peer: directories {@code checkpoint-TERM-INDEX} in Ratis' state machine
 * directory. A name without ".new" at its end is complete and durable.
 */
final class Checkpoints implements StateMachineStorage {
  private static final String PREFIX = "checkpoint-";
  private static final Pattern NAME = Pattern.compile(PREFIX + "(\\d{1,18})-(\\d{1,18})");
  private static final String UNFINISHED = ".new";
  private static final String DIGEST = ".md5"; // beside what Ratis received

  private volatile @Nullable Path directory;

  /** Ratis asks for it with every entry it sends. */
  private volatile @Nullable SnapshotInfo latestInfo;

  @Override
  public void init(RaftStorage storage) {
    directory = storage.getStorageDir().getStateMachineDir().toPath();
    reload();
  }

  /** Looks again which is the latest: Ratis may have put one there. */
  void reload() {
    latestInfo = latest().map(Checkpoints::info).orElse(null);
  }

  private Path directory() {
    Path present = directory;
    if (present == null) {
      throw new IllegalStateException("not initialised");
    }
    return present;
  }

  record Checkpoint(TermIndex position, Path path) {}

  Optional<Checkpoint> latest() {
    return all().stream().max(Comparator.comparing(Checkpoint::position));
  }

  private List<Checkpoint> all() {
    Path present = directory;
    if (present == null || !Files.isDirectory(present)) {
      return List.of();
    }
    try (Stream<Path> entries = Files.list(present)) {
      return entries.flatMap(path -> parse(path).stream()).toList();
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

  /** Where to write a new one; {@link #finish} makes it count. */
  Path begin(TermIndex position) throws IOException {
    Path path = directory().resolve(name(position) + UNFINISHED);
    deleteTree(path);
    Files.createDirectories(directory());
    return path;
  }

  void finish(TermIndex position) throws IOException {
    Path unfinished = directory().resolve(name(position) + UNFINISHED);
    try (Stream<Path> files = Files.list(unfinished)) {
      for (Path file : files.toList()) {
        sync(file);
      }
    }
    sync(unfinished);
    Files.move(unfinished, directory().resolve(name(position)), StandardCopyOption.ATOMIC_MOVE);
    sync(directory());
    reload();
  }

  private static String name(TermIndex position) {
    return PREFIX + position.getTerm() + "-" + position.getIndex();
  }

  private static void sync(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** Makes {@code to} hold just what the checkpoint holds. Table files never change: linked. */
  static void restore(Checkpoint checkpoint, Path to) throws IOException {
    try (Stream<Path> files = Files.list(checkpoint.path())) {
      for (Path file : files.toList()) {
        Path target = to.resolve(file.getFileName());
        if (file.toString().endsWith(".sst")) {
          linkOrCopy(file, target);
        } else if (!file.toString().endsWith(DIGEST)) {
          Files.copy(file, target);
        }
      }
    }
  }

  private static void linkOrCopy(Path file, Path target) throws IOException {
    try {
      Files.createLink(target, file);
    } catch (UnsupportedOperationException | FileSystemException e) {
      Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  static void deleteTree(Path root) throws IOException {
    if (!Files.exists(root)) {
      return;
    }
    try (Stream<Path> tree = Files.walk(root)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  @Override
  public @Nullable SnapshotInfo getLatestSnapshot() {
    return latestInfo;
  }

  private static SnapshotInfo info(Checkpoint checkpoint) {
    try (Stream<Path> files = Files.list(checkpoint.path())) {
      List<FileInfo> infos =
          files
              .filter(file -> !file.toString().endsWith(DIGEST))
              .<FileInfo>map(LazilyDigested::new)
              .toList();
      return new FileListSnapshotInfo(infos, checkpoint.position());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ratis asks for the digest only when it sends the file, but for the list quite often. */
  private static final class LazilyDigested extends FileInfo {
    LazilyDigested(Path path) {
      super(path, null);
    }

    @Override
    public MD5Hash getFileDigest() {
      try {
        return MD5FileUtil.computeMd5ForFile(getPath().toFile());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  @Override
  public void format() {
    // Ratis formats its whole directory before it asks for this.
  }

  /** Keeps the latest: the log before it is gone, so older ones lead nowhere. */
  @Override
  public void cleanupOldSnapshots(SnapshotRetentionPolicy policy) throws IOException {
    Optional<Checkpoint> latest = latest();
    if (latest.isEmpty()) {
      return;
    }
    try (Stream<Path> entries = Files.list(directory())) {
      for (Path entry : entries.toList()) {
        if (entry.getFileName().toString().startsWith(PREFIX)
            && !entry.equals(latest.get().path())) {
          deleteTree(entry);
        }
      }
    }
  }
}
