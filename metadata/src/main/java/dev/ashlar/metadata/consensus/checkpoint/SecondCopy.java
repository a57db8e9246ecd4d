package dev.ashlar.metadata.consensus.checkpoint;

import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits.Room;
import dev.ashlar.metadata.consensus.checkpoint.Checkpoints.Checkpoint;
import dev.ashlar.metadata.consensus.file.CheckedFiles;
import dev.ashlar.metadata.consensus.file.DamagedFileException;
import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.metadata.consensus.file.IoPacer;
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
 * Makes and verifies second copies of checkpoints: the same files, none of them shared with the
 * checkpoint or the live tables. A file that is damaged on one side is replaced from the other.
 * Each table file is copied once, however many checkpoints contain it. Used under {@link
 * Checkpoints#files}.
 */
final class SecondCopy {
  private static final Logger LOG = LoggerFactory.getLogger(SecondCopy.class);

  private static final int MIB_SHIFT = 20;

  /** There is no space for a second copy: the peer itself needs what is left. */
  static final class NoRoomException extends IOException {
    private static final long serialVersionUID = 1;

    private NoRoomException(String message) {
      super(message);
    }
  }

  private final Checkpoints checkpoints;

  SecondCopy(Checkpoints checkpoints) {
    this.checkpoints = checkpoints;
  }

  /**
   * Makes the copy. Every block of a copied table is verified, and the copy is read back and opened
   * before it gets its name. A failure leaves nothing behind.
   *
   * @throws NoRoomException when the copy would exceed the available space
   * @throws DamagedTablesException when the checkpoint itself is damaged
   */
  void make(Checkpoint checkpoint, Room room, IoPacer pace)
      throws IOException, InterruptedException {
    Path copy = checkpoints.copyOf(checkpoint);
    Path unfinished = copy.resolveSibling(copy.getFileName() + Checkpoints.UNFINISHED);
    DurableFiles.deleteTree(unfinished);
    Files.createDirectory(unfinished);
    orDiscard(
        unfinished,
        () -> {
          FileSums sums = fill(unfinished, checkpoint, room, pace);
          sums.write(unfinished);
          sums.write(checkpoint.path());
          DurableFiles.rename(unfinished, copy);
        });
  }

  private FileSums fill(Path unfinished, Checkpoint checkpoint, Room room, IoPacer pace)
      throws IOException, InterruptedException {
    Optional<Checkpoint> before = checkpoints.copied();
    FileSums known = before.isPresent() ? knownSums(before.get()) : FileSums.NONE;
    NavigableMap<String, FileSums.Sum> files = new TreeMap<>();
    List<Path> unshared = new ArrayList<>();
    long left = 0;
    for (Path file : Checkpoints.content(checkpoint.path())) {
      String name = file.getFileName().toString();
      FileSums.Sum sum = known.files().get(name);
      if (sum != null && before.isPresent() && isShared(file, before.get(), sum)) {
        Checkpoints.linkOrCopy(
            checkpoints.copyOf(before.get()).resolve(name), unfinished.resolve(name));
        files.put(name, sum);
      } else {
        unshared.add(file);
        left += Files.size(file);
      }
    }
    for (Path file : unshared) {
      requireRoom(checkpoint, left, room);
      FileSums.Sum sum = copied(file, unfinished.resolve(file.getFileName()), pace);
      files.put(file.getFileName().toString(), sum);
      left -= sum.bytes();
    }
    FileSums sums = new FileSums(files);
    requireAsTaken(checkpoint, sums);
    try {
      requireOpens(unfinished);
    } catch (DamagedTablesException e) {
      requireWholeBefore(before, e, pace);
      throw e;
    }
    return sums;
  }

  private static void requireRoom(Checkpoint checkpoint, long bytes, Room room) throws IOException {
    long free = room.bytes(checkpoint.path());
    if (bytes > free) {
      throw new NoRoomException(
          String.format(
              "the second copy of %s needs %d MiB more, but only %d MiB are available on its "
                  + "drive",
              checkpoint.path(), (bytes >> MIB_SHIFT) + 1, Math.max(0, free >> MIB_SHIFT)));
    }
  }

  /** Work on files that may fail or be interrupted. */
  @FunctionalInterface
  private interface FileWork {
    void run() throws IOException, InterruptedException;
  }

  /** Removes the unfinished file or directory if the work fails. */
  private static void orDiscard(Path unfinished, FileWork work)
      throws IOException, InterruptedException {
    try {
      work.run();
    } catch (IOException | InterruptedException | RuntimeException e) {
      try {
        DurableFiles.deleteTree(unfinished);
      } catch (IOException | RuntimeException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
  }

  /**
   * Whether the previous copy already has this file. Table files never change, so one that both
   * checkpoints link to was copied. A missing or short copy is made again.
   */
  private boolean isShared(Path file, Checkpoint before, FileSums.Sum sum) throws IOException {
    String name = file.getFileName().toString();
    Path earlier = before.path().resolve(name);
    Path copy = checkpoints.copyOf(before).resolve(name);
    return FileSums.isTable(name)
        && Files.exists(earlier)
        && Files.isSameFile(file, earlier)
        && Files.exists(copy)
        && Files.size(copy) == sum.bytes();
  }

  private static FileSums.Sum copied(Path from, Path to, IoPacer pace)
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
      throw new IOException(to + " does not read back as written");
    }
    return new FileSums.Sum(Files.size(to), crc);
  }

  /**
   * Compares the files that are not tables with their checksums from when the checkpoint was taken.
   */
  private static void requireAsTaken(Checkpoint checkpoint, FileSums sums) {
    FileSums.readOrNone(checkpoint.path())
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
      DurableFiles.deleteTree(trial);
    }
  }

  /** The damaged file may be one linked from the previous copy, which this repairs. */
  private void requireWholeBefore(
      Optional<Checkpoint> before, DamagedTablesException found, IoPacer pace)
      throws IOException, InterruptedException {
    if (before.isEmpty()) {
      return;
    }
    List<Path> damaged = verify(before.get(), pace);
    boolean isOnlyOfCopy = damaged.stream().noneMatch(file -> file.startsWith(before.get().path()));
    if (!damaged.isEmpty() && isOnlyOfCopy) {
      throw new IOException("the previous second copy was damaged: " + damaged, found);
    }
  }

  private FileSums sums(Checkpoint checkpoint) throws IOException {
    try {
      return FileSums.read(checkpoints.copyOf(checkpoint));
    } catch (IOException e) {
      return FileSums.read(checkpoint.path());
    }
  }

  /** None if they cannot be read: then no file of that copy is reused. */
  private FileSums knownSums(Checkpoint checkpoint) {
    try {
      return sums(checkpoint);
    } catch (IOException e) {
      LOG.warn("{} will not be reused for the next copy.", checkpoints.copyOf(checkpoint), e);
      return FileSums.NONE;
    }
  }

  /**
   * Reads the checkpoint and its copy, and replaces files that are damaged on one side.
   *
   * @return the files that were damaged
   * @throws IOException when a file is damaged on both sides
   */
  List<Path> verify(Checkpoint checkpoint, IoPacer pace) throws IOException, InterruptedException {
    Path copy = checkpoints.copyOf(checkpoint);
    FileSums sums = sums(checkpoint);
    List<Path> damaged = new ArrayList<>();
    for (String name : sums.files().keySet()) {
      boolean isWhole = sums.isWhole(checkpoint.path(), name, pace);
      boolean isCopyWhole = sums.isWhole(copy, name, pace);
      if (!isWhole && !isCopyWhole) {
        FileSums.requireReadable(checkpoint.path(), name);
        FileSums.requireReadable(copy, name);
        throw new DamagedFileException(
            name + " of " + checkpoint.path() + " and its copy are damaged");
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
      LOG.error("{} is damaged and will be rewritten.", side.resolve(FileSums.FILE));
      return false;
    }
  }

  private Path replace(Path damaged, Path whole, IoPacer pace)
      throws IOException, InterruptedException {
    LOG.error("{} is damaged and will be replaced by {}.", damaged, whole);
    Path unfinished = checkpoints.directory().resolve("replacement" + Checkpoints.UNFINISHED);
    Files.deleteIfExists(unfinished);
    orDiscard(
        unfinished,
        () -> {
          long unused = CheckedFiles.copy(whole, unfinished, pace);
          DurableFiles.rename(unfinished, damaged);
        });
    return damaged;
  }
}
