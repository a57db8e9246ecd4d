package dev.ashlar.metadata.consensus.checkpoint;

import dev.ashlar.metadata.consensus.checkpoint.Checkpoints.Checkpoint;
import dev.ashlar.metadata.consensus.checkpoint.LiveTables.FailedRebuild;
import dev.ashlar.metadata.consensus.checkpoint.LiveTables.TablesLostException;
import dev.ashlar.metadata.consensus.checkpoint.SecondCopy.NoRoomException;
import dev.ashlar.metadata.consensus.file.IoPacer;
import dev.ashlar.metadata.consensus.log.LogSegments;
import dev.ashlar.metadata.table.DamagedTablesException;
import dev.ashlar.metadata.table.RocksTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Background work on the files of a peer: makes a second copy of each checkpoint, purges the log
 * before it, verifies all files periodically and rebuilds damaged tables.
 */
public final class CheckpointKeeper implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CheckpointKeeper.class);
  private static final long BYTES_PER_SECOND = 32 << 20;
  private static final long LOOK_MS = 60_000;
  private static final long RETRY_MIN_MS = 5_000;
  private static final long RETRY_MAX_MS = 3_600_000;
  private static final int MS_PER_SECOND = 1000;
  private static final long WARN_EVERY_NANOS = TimeUnit.HOURS.toNanos(1);
  private static final Duration CLOSE_MAX = Duration.ofSeconds(5);

  /** After this many checkpoints in a row without a second copy, the log is purged nevertheless. */
  private static final int UNCOPIED_MAX = 8;

  private final Peer peer;
  private final Checkpoints checkpoints;
  private final SecondCopy copies;
  private final CheckpointLimits limits;
  private final DamageMeters meters;
  private final Semaphore work = new Semaphore(0);
  private final Thread thread;
  private final IoPacer pace;
  private volatile boolean isClosed;
  private @Nullable Checkpoint uncopied;
  private int uncopiedInARow;
  private int damagedInARow;
  private long retryMs = RETRY_MIN_MS;
  private Optional<Checkpoint> purged = Optional.empty();
  private Optional<Long> warned = Optional.empty();

  /** What the keeper needs of the peer whose files it looks after. */
  public interface Peer {
    Path folder();

    LiveTables tables();

    /** False while, for example, a checkpoint received from the leader replaces the tables. */
    boolean isRunning();

    /** Rebuilds damaged tables from a checkpoint and the log after it. */
    void rebuildIfDamaged() throws IOException, InterruptedException;

    /** Removes the log up to this entry; false while the log is not open yet. */
    boolean purgeLog(long upTo) throws IOException;

    /** The last entry that is both applied and durable on this peer. */
    long writtenIndex() throws IOException;

    void requestCheckpoint();

    /** Why the peer stopped or cannot rebuild its tables, and the remedy; empty: no failure. */
    String failure();
  }

  public CheckpointKeeper(
      Peer peer, Checkpoints checkpoints, CheckpointLimits limits, DamageMeters meters) {
    this.peer = peer;
    this.checkpoints = checkpoints;
    this.copies = new SecondCopy(checkpoints);
    this.limits = limits;
    this.meters = meters;
    this.pace = new IoPacer(BYTES_PER_SECOND, () -> peer.tables().isDamaged() || !peer.isRunning());
    this.thread = Thread.ofPlatform().daemon().name("metadata-keeper").unstarted(this::run);
  }

  public void start() {
    thread.start();
  }

  /** Called after a checkpoint was taken or damage was found. */
  public void wake() {
    work.release();
  }

  private void run() {
    while (!isClosed) {
      try {
        long waitMs = round() ? LOOK_MS : retryMs;
        boolean unused = work.tryAcquire(waitMs, TimeUnit.MILLISECONDS);
        work.drainPermits();
      } catch (InterruptedException e) {
        LOG.debug(
            "Background work on metadata files interrupted: closing, or more urgent work "
                + "is due.",
            e);
      }
    }
  }

  /** Returns whether nothing has to be retried soon. */
  private boolean round() throws InterruptedException {
    try {
      if (!peer.isRunning()) {
        return false;
      }
      peer.rebuildIfDamaged();
      peer.tables().endAbandonedExport();
      try {
        copyLatest();
      } catch (IOException e) {
        verifyIfDue(); // it may repair the cause
        throw e;
      }
      verifyIfDue();
      retryMs = RETRY_MIN_MS;
      damagedInARow = 0;
      return true;
    } catch (DamagedTablesException e) {
      meters.damaged().increment();
      if (damagedInARow++ > 0) { // the last rebuild did not help
        retryMs = Math.min(2 * retryMs, RETRY_MAX_MS);
        TimeUnit.MILLISECONDS.sleep(retryMs);
      }
      peer.tables().setDamaged(String.valueOf(e.getMessage()));
      return false;
    } catch (NoRoomException e) {
      warnOfNoRoom(e);
      return true;
    } catch (TablesLostException e) {
      boolean isFirst = peer.tables().failedRebuild().stream().anyMatch(FailedRebuild::isFirst);
      retryMs =
          isFirst
              ? RETRY_MIN_MS
              : Math.min(2 * retryMs, RETRY_MAX_MS); // the first retry comes soon
      LOG.error("{}. Next attempt in {} s.", peer.failure(), retryMs / MS_PER_SECOND);
      return false;
    } catch (IOException | RuntimeException e) {
      if (!isClosed) {
        retryMs = Math.min(2 * retryMs, RETRY_MAX_MS);
        LOG.error(
            "Background work on the metadata files in {} failed; next attempt in {} s. {}",
            peer.folder(),
            retryMs / MS_PER_SECOND,
            peer.failure(),
            e);
      }
      return false;
    }
  }

  private void copyLatest() throws IOException, InterruptedException {
    checkpoints.files().lockInterruptibly();
    try {
      pace.requireFree();
      checkpoints.cleanCopies();
      Optional<Checkpoint> next = checkpoints.beginCopy();
      if (next.isPresent()) {
        copy(next.get());
      }
    } finally {
      checkpoints.endCopy();
      checkpoints.files().unlock();
    }
    Optional<Checkpoint> copied = checkpoints.copied();
    if (copied.isPresent() && !copied.equals(purged) && purgeLog(copied.get())) {
      purged = copied;
    }
  }

  /**
   * Returns whether the log is purged up to this checkpoint: entries after a checkpoint that is
   * being sent stay.
   */
  private boolean purgeLog(Checkpoint checkpoint) throws IOException {
    if (limits.room().bytes(checkpoint.path()) < 0) {
      checkpoints.sent().giveUp();
    }
    long upTo = checkpoint.position().getIndex();
    long sent = checkpoints.sent().firstIndex();
    return peer.purgeLog(Math.min(upTo, sent)) && upTo <= sent;
  }

  private void copy(Checkpoint checkpoint) throws IOException, InterruptedException {
    try {
      long startNanos = System.nanoTime();
      copies.make(checkpoint, limits.room(), pace);
      checkpoints.removeBefore(checkpoint);
      checkpoints.removeDamaged();
      uncopiedInARow = 0;
      warned = Optional.empty();
      LOG.debug(
          "Metadata in {}: second copy of the checkpoint at entry {} made in {} ms.",
          peer.folder(),
          checkpoint.position().getIndex(),
          TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos));
    } catch (IOException e) {
      goOnWithout(checkpoint, e);
      throw e;
    }
  }

  /**
   * If there is no space for copies, the log must not fill the drive as well, so it is purged
   * without a copy. The older copy is then useless without the log after it, and its space may
   * suffice for the next one.
   */
  private void goOnWithout(Checkpoint checkpoint, IOException why) throws IOException {
    if (!checkpoint.equals(uncopied)) {
      uncopied = checkpoint;
      uncopiedInARow++;
    }
    boolean isFull = why instanceof NoRoomException && limits.room().bytes(checkpoint.path()) < 0;
    if (uncopiedInARow <= UNCOPIED_MAX && !isFull) {
      return;
    }
    if (purgeLog(checkpoint)) {
      if (isTimeToWarn()) {
        LOG.error(
            "Metadata in {}: none of the last {} checkpoints has a second copy ({}). Older "
                + "log segments and copies are removed nevertheless, so that the drive does not "
                + "fill up. Until there is space, a damaged checkpoint file cannot be restored "
                + "from this folder: free space on the drive.",
            peer.folder(),
            uncopiedInARow,
            why.getMessage());
      }
      checkpoints.removeBefore(checkpoint);
    }
  }

  private void warnOfNoRoom(NoRoomException why) {
    if (isTimeToWarn()) {
      LOG.warn(
          "Metadata in {}: {}. The log since the previous checkpoint is kept meanwhile. "
              + "Free space on the drive.",
          peer.folder(),
          why.getMessage());
    }
  }

  private boolean isTimeToWarn() {
    long now = System.nanoTime();
    boolean isTime = warned.isEmpty() || now - warned.get() >= WARN_EVERY_NANOS;
    if (isTime) {
      warned = Optional.of(now);
    }
    return isTime;
  }

  // ---- Verification ----

  private void verifyIfDue() throws IOException, InterruptedException {
    Optional<Checkpoint> copied = checkpoints.copied();
    if (copied.isEmpty()) {
      return;
    }
    Path mark = checkpoints.directory().resolve(Checkpoints.VERIFIED);
    if (!Files.exists(mark)) {
      Files.createFile(mark); // making the copy included a verification
    }
    long lastMs = Files.getLastModifiedTime(mark).toMillis();
    long ageMs = System.currentTimeMillis() - lastMs;
    if (ageMs >= 0
        && ageMs < limits.verifyEvery().toMillis()) { // a negative age means that a clock was set
      return;
    }
    long startNanos = System.nanoTime();
    int damaged = verifyAll(copied.get());
    Files.setLastModifiedTime(mark, FileTime.fromMillis(System.currentTimeMillis()));
    meters.verifications().increment();
    meters.damaged().increment(damaged);
    LOG.info(
        "Metadata in {}: verified checkpoints, tables and log in {} ms; {} damaged files.",
        peer.folder(),
        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos),
        damaged);
  }

  private int verifyAll(Checkpoint checkpoint) throws IOException, InterruptedException {
    int damaged;
    try {
      damaged = withFiles(() -> verifyBoth(checkpoint));
    } catch (IOException e) {
      // The live tables may no longer need a file that is damaged on both sides. Requested without
      // this lock, for which Ratis waits under its own lock when it installs a checkpoint.
      peer.requestCheckpoint();
      int unused = withFiles(() -> verifyLive(Optional.empty()));
      throw e;
    }
    return damaged + verifyLog();
  }

  /** Work on checkpoint files; returns the number of damaged files. */
  @FunctionalInterface
  private interface FileWork {
    int run() throws IOException, InterruptedException;
  }

  private int withFiles(FileWork verification) throws IOException, InterruptedException {
    checkpoints.files().lockInterruptibly();
    try {
      pace.requireFree();
      return verification.run();
    } finally {
      checkpoints.files().unlock();
    }
  }

  private int verifyBoth(Checkpoint checkpoint) throws IOException, InterruptedException {
    List<Path> damaged = copies.verify(checkpoint, pace);
    for (Path file : damaged) {
      boolean isOfTables = FileSums.isTable(file.toString());
      if (isOfTables && file.startsWith(checkpoint.path())) {
        throw new DamagedTablesException(file + ", which the live tables may share, was damaged");
      }
    }
    return damaged.size() + verifyLive(Optional.of(checkpoint));
  }

  /**
   * @param verified a checkpoint whose tables were all found intact
   * @return 0; damage is reported by an exception
   */
  private int verifyLive(Optional<Checkpoint> verified) throws IOException, InterruptedException {
    for (Path file : peer.tables().files()) {
      try {
        if (verified.isEmpty() || !isOf(verified.get(), file)) {
          RocksTable.verify(file);
          pace.done(Files.size(file));
        }
      } catch (IOException | DamagedTablesException e) {
        if (Files.exists(file)) { // otherwise a compaction has removed it
          throw e;
        }
      }
    }
    return 0;
  }

  private static boolean isOf(Checkpoint checkpoint, Path file) throws IOException {
    Path same = checkpoint.path().resolve(file.getFileName());
    return Files.exists(same) && Files.isSameFile(same, file);
  }

  private int verifyLog() throws IOException, InterruptedException {
    long written = peer.writtenIndex();
    Optional<Path> segment = LogSegments.damage(checkpoints.logDirectory(), written, pace);
    if (segment.isEmpty()) {
      return 0;
    }
    LOG.error(
        "Metadata log segment {} is damaged. Its entries are applied: a checkpoint "
            + "replaces it.",
        segment.get());
    peer.requestCheckpoint();
    return 1;
  }

  @Override
  public void close() {
    isClosed = true;
    thread.interrupt();
    try {
      if (thread.isAlive() && !thread.join(CLOSE_MAX)) {
        LOG.warn(
            "Metadata in {}: background work on files does not end within the time limit.",
            peer.folder());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
