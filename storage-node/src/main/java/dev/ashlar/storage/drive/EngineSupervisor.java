package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.storage.drive.index.IndexException;
import dev.ashlar.storage.drive.index.RocksShardIndex;
import dev.ashlar.storage.drive.metrics.DriveMetrics;
import java.io.IOException;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens, replaces and closes the engine of a drive. After a failure of the index, {@link
 * IndexRecovery} ends the engine, and a new one starts in the same incarnation: no acknowledged
 * data is in doubt. Until then the drive makes no statement about the data it holds.
 */
final class EngineSupervisor {
  private static final Logger LOG = LoggerFactory.getLogger(EngineSupervisor.class);

  /** Only after a failure of the index itself: otherwise the log may be incomplete. */
  private static final String DISCARD_ADVICE =
      " If the index fails again, delete its \"index\" directory while the process is stopped. The"
          + " index is then rebuilt from the log without loss of data";

  private final DriveEngine.Context context;
  private final DriveDirectory directory;
  private final DriveMetrics meters;
  private final Consumer<DriveEngine> onOpen;
  private final IndexRecovery recovery;
  private volatile DriveId drive;
  private volatile @Nullable DriveEngine engine;
  private volatile @Nullable IndexException indexFailure;
  private volatile @Nullable RocksShardIndex opening;
  private volatile @Nullable Throwable finalFailure;
  private volatile boolean isEngineEnding;
  private volatile boolean isClosing;
  private volatile boolean isInLaterIncarnation;
  private volatile boolean isLogInDoubt;
  private volatile boolean isReadOnly;
  private boolean isAnnounced;
  private int generation;

  /**
   * @param onOpen called with each engine after its start
   */
  EngineSupervisor(
      DriveEngine.Context context,
      DriveDirectory directory,
      DriveMetrics meters,
      Consumer<DriveEngine> onOpen) {
    this.context = context;
    this.directory = directory;
    this.meters = meters;
    this.onOpen = onOpen;
    recovery = new IndexRecovery(context, directory, meters, this);
    drive = directory.identity().drive();
  }

  /**
   * Opens the drive. If rebuilding the index takes longer than the timeout, the drive is returned
   * without an engine and starts to serve when the rebuild has finished.
   */
  void open(Duration timeout) throws IOException {
    try {
      RocksShardIndex index = openIndex();
      if (index.position().isRebuild() && directory.holdsSegments()) {
        index.close();
        fail(
            new IndexException(
                IndexException.Kind.UNFINISHED,
                "the index is missing or incomplete, for example because the process was killed",
                null));
      } else {
        serve(index, false);
      }
    } catch (IOException e) {
      IndexException cause = IndexException.in(e);
      if (cause == null || cause.kind() == IndexException.Kind.FAILED) {
        throw e;
      }
      fail(cause);
    }
    recovery.await(timeout);
    Throwable failure = finalFailure;
    if (failure != null && engine == null) {
      throw new IOException(failure.getMessage(), failure);
    }
    announce();
  }

  private synchronized void announce() {
    isAnnounced = true;
  }

  /** In the incarnation that was announced to other processes. */
  DriveId drive() {
    return drive;
  }

  /** The drive for the log of the process. */
  String label() {
    return context.label(drive);
  }

  /** The engine, which may be about to end; null while there is none. */
  @Nullable DriveEngine engine() {
    return engine;
  }

  /** A value of the engine; 0 while there is none. */
  long value(ToLongFunction<DriveEngine> value) {
    DriveEngine present = engine;
    return present == null ? 0 : value.applyAsLong(present);
  }

  boolean isServing() {
    return engine != null && indexFailure == null;
  }

  boolean isClosing() {
    return isClosing;
  }

  /** The failure of the index that recovery has to mend; null while the index works. */
  @Nullable IndexException indexFailure() {
    return indexFailure;
  }

  boolean isRecovering() {
    return indexFailure != null && finalFailure == null;
  }

  DriveEngine readable() throws ShardException {
    DriveEngine present = engine;
    if (present == null || isEngineEnding) {
      throw new ShardException(ShardFault.UNAVAILABLE, drive + ": its index is not available");
    }
    return present;
  }

  /** Why writes are refused; null if they are accepted. */
  @Nullable ShardException writeRefusal() {
    if (isReadOnly) {
      return new ShardException(ShardFault.READ_ONLY, drive + " is read-only after a failed write");
    }
    if (finalFailure != null) {
      return new ShardException(ShardFault.READ_ONLY, drive + ": its index cannot be used");
    }
    if (isInLaterIncarnation) {
      return new ShardException(ShardFault.READ_ONLY, drive + " has lost a part of its log");
    }
    IndexException cause = indexFailure;
    if (cause != null) {
      return new ShardException(cause.kind().fault(), drive + ": " + cause.kind().reason());
    }
    return engine == null
        ? new ShardException(ShardFault.UNAVAILABLE, drive + " is being opened")
        : null;
  }

  /** Reports a failure that a user of an open index has met. */
  private void failed(int ofGeneration, IndexException cause) {
    synchronized (this) {
      if (ofGeneration != generation || engine == null) {
        return; // of a former index, or of one that is being opened: its opener gets the exception
      }
    }
    fail(cause);
  }

  /** Ends writes and starts the recovery of the index. */
  synchronized void fail(IndexException cause) {
    if (indexFailure != null || isClosing) {
      return;
    }
    indexFailure = cause;
    if (cause.kind() != IndexException.Kind.UNFINISHED) {
      meters.ioError();
    }
    if (isLogInDoubt) {
      leaveFailed(cause);
      return;
    }
    DriveEngine present = engine;
    if (present != null) {
      present.endWrites(cause.kind().fault());
    }
    recovery.start();
  }

  /**
   * Makes the drive read-only until the process is restarted.
   *
   * @param isInDoubt whether a write or sync of the log has failed: a replay could then read data
   *     that is only in the page cache, so the engine is not replaced either
   */
  synchronized void endWrites(boolean isInDoubt) {
    isReadOnly = true;
    isLogInDoubt |= isInDoubt;
  }

  private void leaveFailed(IndexException cause) {
    finalFailure = cause;
    LOG.error(
        "Drive {}: {}. Recovery of the index is postponed until the process is restarted,"
            + " because a write to the log has failed before",
        label(),
        cause.getMessage());
  }

  /** Closes the engine, if there is one; false if the supervisor is closed or recovery must end. */
  boolean closeEngine() {
    DriveEngine present = engine;
    if (present == null) {
      return !isClosing;
    }
    isEngineEnding = true;
    if (!awaitEnd(present::stopWrites)) {
      return false;
    }
    IndexException cause = indexFailure;
    if (isLogInDoubt && cause != null) { // its last write has failed
      isEngineEnding = false;
      leaveFailed(cause);
      return false;
    }
    if (!awaitEnd(present::stop)) {
      return false;
    }
    synchronized (this) {
      if (isClosing) {
        return false; // close() closes the engine
      }
      engine = null;
    }
    try {
      present.close();
    } catch (IOException e) {
      LOG.warn("Drive {}: closing a segment failed: {}", drive, e.toString());
    }
    return true;
  }

  /** False if the supervisor is closed meanwhile. */
  private boolean awaitEnd(BooleanSupplier stop) {
    while (!stop.getAsBoolean()) {
      if (isClosing) {
        return false;
      }
    }
    return true;
  }

  private RocksShardIndex openIndex() throws IOException {
    int next = nextGeneration();
    RocksShardIndex index = directory.openIndex(failure -> failed(next, failure));
    opening = index;
    if (isClosing) {
      index.endCommits();
    }
    return index;
  }

  private synchronized int nextGeneration() {
    return ++generation;
  }

  /** Opens the index again, replays the log and starts an engine. */
  void reopen() throws IOException {
    serve(openIndex(), true);
  }

  /**
   * Replays the log to an index and starts an engine with it; closes the index on failure.
   *
   * @param isCheckpointed whether to make the result durable, so that a crash does not repeat it
   */
  private void serve(RocksShardIndex index, boolean isCheckpointed) throws IOException {
    @Nullable DriveCore core = null;
    boolean isServed = false;
    try {
      core = directory.openCore(index, meters);
      if (isCheckpointed) {
        index.checkpoint();
      }
      DriveEngine served = publish(index, core);
      isServed = true;
      onOpen.accept(served);
    } finally {
      if (!isServed) {
        opening = null;
        index.close();
        if (core != null) {
          core.close();
        }
      }
    }
  }

  private DriveEngine publish(RocksShardIndex index, DriveCore core) {
    DriveEngine opened = new DriveEngine(context, index, core);
    try {
      startAs(opened, core.drive());
    } catch (RuntimeException | Error e) {
      while (!opened.stop()) {
        // files must stay open while a call hangs; close() waits only for its own timeout
      }
      throw e;
    }
    return opened;
  }

  private synchronized void startAs(DriveEngine opened, DriveId found) {
    opening = null;
    boolean isLater = isAnnounced && !found.equals(drive);
    if (!isAnnounced) {
      drive = found;
    } else if (isLater) {
      LOG.error(
          "Drive {}: the index rebuild found damage in the log. The drive is read-only until"
              + " the process is restarted, and then starts a new incarnation",
          label());
    }
    if (isLater || isReadOnly) {
      opened.endWrites(ShardFault.READ_ONLY);
    }
    recovery.succeeded();
    opened.start(); // a failure of its index is accepted from here on
    engine = opened;
    isEngineEnding = false;
    isInLaterIncarnation |= isLater;
    indexFailure = null;
  }

  /** Ends the recovery of the index without success. */
  void giveUp(Throwable cause) {
    finalFailure = cause;
    DriveEngine present = engine;
    if (present != null) {
      present.endWrites(ShardFault.READ_ONLY);
    }
    LOG.error(
        "Drive {} refuses writes: its index failed again or could not be opened ({}). Check"
            + " the hardware of the drive, the memory, and what is mounted there; then restart the"
            + " process.{}",
        label(),
        cause.toString(),
        IndexException.in(cause) == null ? "" : DISCARD_ADVICE);
    LOG.debug("Drive {}: stack trace of the final failure", drive, cause);
  }

  /**
   * Stops recovery and closes the engine.
   *
   * @return false if something hangs and stays open
   */
  boolean close() throws IOException {
    synchronized (this) {
      isClosing = true;
    }
    RocksShardIndex unfinished = opening;
    if (unfinished != null) {
      unfinished.endCommits();
    }
    if (!recovery.stop()) {
      return false;
    }
    DriveEngine last = engine;
    if (last == null) {
      return true;
    }
    if (!last.stop()) {
      return false;
    }
    try {
      if (!isReadOnly && indexFailure == null) {
        last.checkpoint();
      }
    } finally {
      last.close();
    }
    return true;
  }
}
