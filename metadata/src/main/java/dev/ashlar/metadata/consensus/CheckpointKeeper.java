package dev.ashlar.metadata.consensus;

import dev.ashlar.metadata.consensus.Checkpoints.Checkpoint;
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
 * Background work on the files of one peer: gives each checkpoint a second copy, lets go of the log
 * before it, verifies all files once in a while and has damaged tables rebuilt.
 */
final class CheckpointKeeper implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CheckpointKeeper.class);
  private static final long BYTES_PER_SECOND = 32 << 20;
  private static final long LOOK_MS = 60_000;
  private static final long RETRY_MIN_MS = 5_000;
  private static final long RETRY_MAX_MS = 3_600_000;
  private static final int MS_PER_SECOND = 1000;
  private static final Duration CLOSE_MAX = Duration.ofSeconds(5);

  /** An empty file beside the checkpoints; its time is that of the last verification. */
  private static final String VERIFIED = "verified";

  /** Checkpoints without a second copy, in a row, after which one copy has to be enough. */
  private static final int UNCOPIED_MAX = 8;

  private final TableStateMachine machine;
  private final Checkpoints checkpoints;
  private final SecondCopy copies;
  private final Duration verifyEvery;
  private final DamageMeters meters;
  private final Semaphore work = new Semaphore(0);
  private final Thread thread;
  private final Pace pace;
  private volatile boolean isClosed;
  private @Nullable Checkpoint uncopied;
  private int uncopiedInARow;
  private int damagedInARow;
  private long retryMs = RETRY_MIN_MS;
  private Optional<Checkpoint> purged = Optional.empty();

  CheckpointKeeper(
      TableStateMachine machine,
      Checkpoints checkpoints,
      Duration verifyEvery,
      DamageMeters meters) {
    this.machine = machine;
    this.checkpoints = checkpoints;
    this.copies = new SecondCopy(checkpoints);
    this.verifyEvery = verifyEvery;
    this.meters = meters;
    this.pace =
        Pace.of(BYTES_PER_SECOND, () -> machine.tables().isDamaged() || !machine.isRunning());
    this.thread = Thread.ofPlatform().daemon().name("metadata-keeper").unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  /** There is a checkpoint, or damage. */
  void wake() {
    work.release();
  }

  private void run() {
    while (!isClosed) {
      try {
        long waitMs = round() ? LOOK_MS : retryMs;
        boolean unused = work.tryAcquire(waitMs, TimeUnit.MILLISECONDS);
        work.drainPermits();
      } catch (InterruptedException e) {
        LOG.debug("closed, or put off for what is more urgent", e);
      }
    }
  }

  /** Returns whether nothing has to be tried again soon. */
  private boolean round() throws InterruptedException {
    try {
      if (!machine.isRunning()) {
        return false;
      }
      machine.rebuildIfDamaged();
      copyLatest();
      verifyIfDue();
      retryMs = RETRY_MIN_MS;
      damagedInARow = 0;
      return true;
    } catch (DamagedTablesException e) {
      meters.damaged().increment();
      if (damagedInARow++ > 0) { // the last rebuilding was of no use
        retryMs = Math.min(2 * retryMs, RETRY_MAX_MS);
        TimeUnit.MILLISECONDS.sleep(retryMs);
      }
      machine.tables().setDamaged(String.valueOf(e.getMessage()));
      return false;
    } catch (IOException | RuntimeException e) {
      if (!isClosed) {
        retryMs = Math.min(2 * retryMs, RETRY_MAX_MS);
        LOG.error(
            "metadata in {}: its files cannot be looked after, next try in {} s",
            machine.folder(),
            retryMs / MS_PER_SECOND,
            e);
      }
      return false;
    }
  }

  private void copyLatest() throws IOException, InterruptedException {
    checkpoints.files().lockInterruptibly();
    try {
      pace.requireFree();
      Optional<Checkpoint> next = checkpoints.beginCopy();
      if (next.isPresent()) {
        copy(next.get());
      }
    } finally {
      checkpoints.endCopy();
      checkpoints.files().unlock();
    }
    Optional<Checkpoint> copied = checkpoints.copied();
    if (copied.isPresent()
        && !copied.equals(purged)
        && machine.purgeLog(copied.get().position().getIndex())) {
      purged = copied;
    }
  }

  private void copy(Checkpoint checkpoint) throws IOException, InterruptedException {
    try {
      long startNanos = System.nanoTime();
      copies.make(checkpoint, pace);
      checkpoints.removeBefore(checkpoint);
      uncopiedInARow = 0;
      LOG.debug(
          "metadata in {}: second copy of the checkpoint at entry {} made in {} ms",
          machine.folder(),
          checkpoint.position().getIndex(),
          TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos));
    } catch (IOException e) {
      goOnWithout(checkpoint, e);
      throw e;
    }
  }

  /** The log must not fill the drive because a copy has no room: then one copy has to do. */
  private void goOnWithout(Checkpoint checkpoint, IOException why) throws IOException {
    if (!checkpoint.equals(uncopied)) {
      uncopied = checkpoint;
      uncopiedInARow++;
    }
    if (uncopiedInARow > UNCOPIED_MAX) {
      LOG.error(
          "metadata in {}: no second copy of the last {} checkpoints could be made ({}). The log is"
              + " let go all the same: give it more room",
          machine.folder(),
          uncopiedInARow,
          why.getMessage());
      boolean unused = machine.purgeLog(checkpoint.position().getIndex());
    }
  }

  // ---- Verification ----

  private void verifyIfDue() throws IOException, InterruptedException {
    Optional<Checkpoint> copied = checkpoints.copied();
    if (copied.isEmpty()) {
      return;
    }
    Path mark = checkpoints.directory().resolve(VERIFIED);
    if (!Files.exists(mark)) {
      Files.createFile(mark); // the copy was verified when it was made
    }
    long lastMs = Files.getLastModifiedTime(mark).toMillis();
    if (System.currentTimeMillis() - lastMs < verifyEvery.toMillis()) {
      return;
    }
    long startNanos = System.nanoTime();
    int damaged = verifyAll(copied.get());
    Files.setLastModifiedTime(mark, FileTime.fromMillis(System.currentTimeMillis()));
    meters.verifications().increment();
    meters.damaged().increment(damaged);
    LOG.info(
        "metadata in {}: checkpoints, tables and log verified in {} ms, {} damaged files",
        machine.folder(),
        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos),
        damaged);
  }

  private int verifyAll(Checkpoint checkpoint) throws IOException, InterruptedException {
    List<Path> damaged;
    checkpoints.files().lockInterruptibly();
    try {
      pace.requireFree();
      damaged = verifyBoth(checkpoint);
      for (Path file : damaged) {
        boolean isOfTables = FileSums.isTable(file.toString());
        if (isOfTables && file.startsWith(checkpoint.path())) {
          throw new DamagedTablesException(file + ", which the tables may share, was damaged");
        }
      }
      verifyLive(Optional.of(checkpoint));
    } finally {
      checkpoints.files().unlock();
    }
    return damaged.size() + verifyLog();
  }

  /** What is damaged on both sides may not be needed any more by the tables in use. */
  private List<Path> verifyBoth(Checkpoint checkpoint) throws IOException, InterruptedException {
    try {
      return copies.verify(checkpoint, pace);
    } catch (IOException e) {
      machine.requestCheckpoint();
      verifyLive(Optional.empty());
      throw e;
    }
  }

  /**
   * @param verified a checkpoint of which each table was found whole
   */
  private void verifyLive(Optional<Checkpoint> verified) throws IOException, InterruptedException {
    for (Path file : machine.tables().files()) {
      try {
        if (verified.isEmpty() || !isOf(verified.get(), file)) {
          RocksTable.verify(file);
          pace.done(Files.size(file));
        }
      } catch (IOException | DamagedTablesException e) {
        if (Files.exists(file)) { // else a compaction was done with it
          throw e;
        }
      }
    }
  }

  private static boolean isOf(Checkpoint checkpoint, Path file) throws IOException {
    Path same = checkpoint.path().resolve(file.getFileName());
    return Files.exists(same) && Files.isSameFile(same, file);
  }

  private int verifyLog() throws IOException, InterruptedException {
    long applied = machine.appliedIndex();
    Optional<Path> segment = LogSegments.damage(checkpoints.logDirectory(), applied, pace);
    if (segment.isEmpty()) {
      return 0;
    }
    LOG.error(
        "metadata log {} is damaged. The tables have what it says: a checkpoint is taken",
        segment.get());
    machine.requestCheckpoint();
    return 1;
  }

  @Override
  public void close() {
    isClosed = true;
    thread.interrupt();
    try {
      if (thread.isAlive() && !thread.join(CLOSE_MAX)) {
        LOG.warn("metadata in {}: work on its files does not end", machine.folder());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
