package dev.ashlar.metadata.consensus;

import dev.ashlar.metadata.consensus.Checkpoints.Checkpoint;
import dev.ashlar.metadata.table.DamagedTablesException;
import dev.ashlar.metadata.table.RocksTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The second copy of a checkpoint: the same files, none of them shared with the checkpoint or the
 * live tables. A file that is damaged on one side is replaced from the other. Each table file is
 * copied once, however many checkpoints have it. Used under {@link Checkpoints#files}.
 */
final class SecondCopy {
  private static final Logger LOG = LoggerFactory.getLogger(SecondCopy.class);

  private final Checkpoints checkpoints;

  SecondCopy(Checkpoints checkpoints) {
    this.checkpoints = checkpoints;
  }

  /**
   * Makes the copy; every block of a table is verified, and the copy is read back and opened before
   * it counts.
   *
   * @throws DamagedTablesException when the checkpoint itself is damaged
   */
  void make(Checkpoint checkpoint, Pace pace) throws IOException, InterruptedException {
    Optional<Checkpoint> before = checkpoints.copied();
    FileSums known = before.isPresent() ? sums(before.get()) : new FileSums(new TreeMap<>());
    Path copy = checkpoints.copyOf(checkpoint);
    Path unfinished = copy.resolveSibling(copy.getFileName() + Checkpoints.UNFINISHED);
    Checkpoints.deleteTree(unfinished);
    Files.createDirectory(unfinished);
    NavigableMap<String, FileSums.Sum> files = new TreeMap<>();
    for (Path file : Checkpoints.content(checkpoint.path())) {
      String name = file.getFileName().toString();
      FileSums.Sum sum = known.files().get(name);
      if (sum != null && before.isPresent() && isShared(file, before.get(), name)) {
        Checkpoints.linkOrCopy(
            checkpoints.copyOf(before.get()).resolve(name), unfinished.resolve(name));
      } else {
        sum = copied(file, unfinished.resolve(name), pace);
      }
      files.put(name, sum);
    }
    FileSums sums = new FileSums(files);
    requireAsTaken(checkpoint, sums);
    try {
      requireOpens(unfinished);
    } catch (DamagedTablesException e) {
      requireWholeBefore(before, e, pace);
      throw e;
    }
    sums.write(unfinished);
    sums.write(checkpoint.path());
    CheckedFiles.rename(unfinished, copy);
  }

  /** Table files never change: one that both checkpoints link is the same, and was copied. */
  private static boolean isShared(Path file, Checkpoint before, String name) throws IOException {
    Path earlier = before.path().resolve(name);
    return FileSums.isTable(name) && Files.exists(earlier) && Files.isSameFile(file, earlier);
  }

  private static FileSums.Sum copied(Path from, Path to, Pace pace)
      throws IOException, InterruptedException {
    long crc = CheckedFiles.copy(from, to, pace);
    if (FileSums.isTable(to.toString())) {
      try {
        RocksTable.verify(to);
      } catch (DamagedTablesException e) {
        RocksTable.verify(from);
        throw new IOException("the copy of " + from + " is damaged", e);
      }
    }
    if (CheckedFiles.crc(to, pace) != crc) {
      throw new IOException(to + " reads back other than what was written");
    }
    return new FileSums.Sum(Files.size(to), crc);
  }

  /** Its files that are no tables have had checksums since it was taken. */
  private static void requireAsTaken(Checkpoint checkpoint, FileSums sums) throws IOException {
    if (!FileSums.isThere(checkpoint.path())) {
      return;
    }
    FileSums.read(checkpoint.path())
        .files()
        .forEach(
            (name, taken) -> {
              FileSums.Sum now = sums.files().get(name);
              boolean isSame =
                  now != null
                      && now.bytes() == taken.bytes()
                      && (taken.crc() == FileSums.UNKNOWN || taken.crc() == now.crc());
              if (!isSame) {
                throw new DamagedTablesException(
                    checkpoint.path().resolve(name) + " is not what was written");
              }
            });
  }

  private void requireOpens(Path copy) throws IOException {
    Path trial = checkpoints.directory().resolve("trial" + Checkpoints.UNFINISHED);
    try {
      Checkpoints.restore(copy, trial);
      RocksTable.verifyOpens(trial);
    } finally {
      Checkpoints.deleteTree(trial);
    }
  }

  /** What is damaged may be a file that was linked from the copy before, which is mended now. */
  private void requireWholeBefore(
      Optional<Checkpoint> before, DamagedTablesException found, Pace pace)
      throws IOException, InterruptedException {
    if (before.isEmpty()) {
      return;
    }
    List<Path> damaged = verify(before.get(), pace);
    boolean isOnlyOfCopy = damaged.stream().noneMatch(file -> file.startsWith(before.get().path()));
    if (!damaged.isEmpty() && isOnlyOfCopy) {
      throw new IOException("the second copy before was damaged: " + damaged, found);
    }
  }

  private FileSums sums(Checkpoint checkpoint) throws IOException {
    try {
      return FileSums.read(checkpoints.copyOf(checkpoint));
    } catch (IOException e) {
      return FileSums.read(checkpoint.path());
    }
  }

  /**
   * Reads the checkpoint and its copy, and replaces what is damaged on one side.
   *
   * @return the files that were damaged
   * @throws IOException when a file is damaged on both sides
   */
  List<Path> verify(Checkpoint checkpoint, Pace pace) throws IOException, InterruptedException {
    Path copy = checkpoints.copyOf(checkpoint);
    FileSums sums = sums(checkpoint);
    List<Path> damaged = new ArrayList<>();
    for (String name : sums.files().keySet()) {
      boolean isWhole = sums.isWhole(checkpoint.path(), name, pace);
      boolean isCopyWhole = sums.isWhole(copy, name, pace);
      if (!isWhole && !isCopyWhole) {
        throw new IOException(name + " of " + checkpoint.path() + " and its copy are damaged");
      }
      if (!isWhole) {
        damaged.add(replace(checkpoint.path().resolve(name), copy.resolve(name), pace));
      } else if (!isCopyWhole) {
        damaged.add(replace(copy.resolve(name), checkpoint.path().resolve(name), pace));
      }
    }
    for (Path side : List.of(checkpoint.path(), copy)) {
      if (!isRead(sums, side)) {
        damaged.add(side.resolve(FileSums.FILE));
        sums.write(side);
      }
    }
    return damaged;
  }

  private static boolean isRead(FileSums sums, Path side) {
    try {
      return FileSums.read(side).equals(sums);
    } catch (IOException e) {
      LOG.error("{} is damaged and is written anew", side.resolve(FileSums.FILE));
      return false;
    }
  }

  private Path replace(Path damaged, Path whole, Pace pace)
      throws IOException, InterruptedException {
    LOG.error("{} is damaged and is replaced by {}", damaged, whole);
    Path unfinished = checkpoints.directory().resolve("replacement" + Checkpoints.UNFINISHED);
    Files.deleteIfExists(unfinished);
    long unused = CheckedFiles.copy(whole, unfinished, pace);
    CheckedFiles.rename(unfinished, damaged);
    return damaged;
  }
}
