package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.storage.drive.index.IndexException;
import dev.ashlar.storage.drive.index.RocksShardIndex;
import dev.ashlar.storage.drive.log.ThreadJoin;
import dev.ashlar.storage.drive.metrics.DriveMetrics;
import dev.ashlar.storage.io.TooManyOpenFilesException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Keeps a drive's engine. Where the index fails, the engine is ended, the index opened again (or,
 * where it is damaged, made anew from the log), and the drive goes on in the same incarnation:
 * nothing that was acknowledged is in doubt. Until then the drive has no opinion on what it holds.
 */
final class EngineKeeper {
  private static final Logger LOG = LoggerFactory.getLogger(EngineKeeper.class);

  /** Between two looks whether what the index lacked is there. */
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Only where it is the index that has failed: else the log may be what is not whole. */
  private static final String DISCARD_ADVICE =
      " If the index fails again, delete the folder \"index\" in it while the process is down: it"
          + " is made anew from the log, no data is lost";

  private final DriveEngine.Context context;
  private final DriveDirectory folder;
  private final DriveMetrics meters;
  private final Consumer<DriveEngine> onOpen;
  private final IndexRecoveryLimit attempts;
  private volatile DriveId drive;
  private volatile @Nullable DriveEngine engine;
  private volatile @Nullable IndexException trouble;
  private volatile @Nullable RocksShardIndex opening;
  private volatile @Nullable Throwable givenUp;
  private volatile boolean isEngineEnding;
  private volatile boolean isClosing;
  private volatile boolean isInLaterLife;
  private volatile boolean isLogInDoubt;
  private boolean isReadOnly;
  private boolean isAnnounced;
  private int generation;
  private @Nullable Thread mender;

  /**
   * @param onOpen is given each engine once it has started
   */
  EngineKeeper(
      DriveEngine.Context context,
      DriveDirectory folder,
      DriveMetrics meters,
      Consumer<DriveEngine> onOpen) {
    this.context = context;
    this.folder = folder;
    this.meters = meters;
    this.onOpen = onOpen;
    attempts = new IndexRecoveryLimit(context.nanoTime());
    drive = folder.identity().drive();
  }

  /**
   * Opens the drive. Where that takes long because the index has to be made anew, the drive is
   * there without serving anything, and does when it is through.
   *
   * @param patience how long it waits for that
   */
  void open(Duration patience) throws IOException {
    try {
      RocksShardIndex index = openIndex();
      if (index.position().isRebuild() && folder.holdsSegments()) {
        index.close();
        fail(
            new IndexException(
                IndexException.Kind.UNFINISHED,
                "the index is not there or not complete, as after a process that was killed",
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
    awaitMender(patience);
    announce();
  }

  private void awaitMender(Duration patience) throws IOException {
    Thread running = mender();
    if (running != null) {
      ThreadJoin.await(running, patience);
    }
    Throwable failure = givenUp;
    if (failure != null && engine == null) {
      throw new IOException(failure.getMessage(), failure);
    }
  }

  private synchronized void announce() {
    isAnnounced = true;
  }

  private synchronized @Nullable Thread mender() {
    return mender;
  }

  /** In the incarnation that others were told. */
  DriveId drive() {
    return drive;
  }

  /** Also one that is about to end; null while there is none. */
  @Nullable DriveEngine engine() {
    return engine;
  }

  private boolean isServing() {
    return engine != null && trouble == null;
  }

  /** Whether the index is being opened again or made anew. */
  boolean isMending() {
    return trouble != null && givenUp == null;
  }

  /** What serves reads. */
  DriveEngine readable() throws ShardException {
    DriveEngine present = engine;
    if (present == null || isEngineEnding) {
      throw new ShardException(ShardFault.UNAVAILABLE, drive + ": its index is not there now");
    }
    return present;
  }

  /** Why nothing can be written; or null. */
  @Nullable ShardException writeRefusal() {
    if (givenUp != null) {
      return new ShardException(ShardFault.READ_ONLY, drive + ": its index cannot be used");
    }
    if (isInLaterLife) {
      return new ShardException(ShardFault.READ_ONLY, drive + " has lost a part of its log");
    }
    IndexException cause = trouble;
    if (cause != null) {
      return new ShardException(cause.kind().fault(), drive + ": " + cause.kind().says());
    }
    return engine == null ? new ShardException(ShardFault.UNAVAILABLE, drive + " opens") : null;
  }

  /** The index has failed, as somebody met it who works with it now. */
  private void failed(int ofGeneration, IndexException cause) {
    synchronized (this) {
      if (ofGeneration != generation || engine == null) {
        return; // one that is not used any more, or not yet: who opens it is told otherwise
      }
    }
    fail(cause);
  }

  /** From now on the index is of no use as it is. */
  synchronized void fail(IndexException cause) {
    if (trouble != null || isClosing) {
      return;
    }
    trouble = cause;
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
    Thread started =
        Thread.ofPlatform()
            .name("drive-mend-" + context.name())
            .daemon()
            .unstarted(this::mendOrGiveUp);
    mender = started;
    started.start();
  }

  /**
   * Until the process is started again, no engine writes.
   *
   * @param isInDoubt whether a write or sync of the log has failed: what a replay would read now
   *     may come from the page cache only, so that the engine is not replaced either
   */
  synchronized void endWrites(boolean isInDoubt) {
    isReadOnly = true;
    isLogInDoubt |= isInDoubt;
  }

  private void leaveFailed(IndexException cause) {
    givenUp = cause;
    LOG.error(
        "drive {} ({}): {}. The index is left as it is until the process is started again, because"
            + " a write to the log failed before",
        drive,
        context.config().folder(),
        cause.getMessage());
  }

  private void mendOrGiveUp() {
    try {
      mend();
    } catch (RuntimeException | Error e) { // no memory, say: else nobody would hear of it
      giveUp(e);
    }
  }

  private void mend() {
    long began = System.nanoTime();
    IndexException cause = trouble;
    while (cause != null) {
      IndexException.Kind kind = attempts.judge(cause.kind());
      if (!attempts.mayTry(kind)) {
        giveUp(cause);
        return;
      }
      LOG.atLevel(kind == IndexException.Kind.UNFINISHED ? Level.WARN : Level.ERROR)
          .log(
              "drive {} ({}): {}. {}",
              drive,
              context.config().folder(),
              cause.getMessage(),
              kind.plan());
      if (!awaitRoom(kind) || !endEngine()) {
        return;
      }
      cause = tryAgain(kind);
    }
    if (isServing()) {
      LOG.warn(
          "drive {} ({}) serves again: its index is whole after {} ms",
          drive,
          context.config().folder(),
          TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began));
    }
  }

  /** What went wrong again; null if the drive serves, or is given up. */
  private @Nullable IndexException tryAgain(IndexException.Kind kind) {
    try {
      if (kind.isDiscarded()) {
        folder.discardIndex();
      }
      if (kind.isDiscarded() || kind == IndexException.Kind.UNFINISHED) {
        meters.indexRebuild();
      }
      serve(openIndex(), true);
      return null;
    } catch (IOException | RuntimeException e) {
      IndexException again = failureOf(e);
      if (again == null && !isClosing) {
        giveUp(e);
      }
      return isClosing ? null : again;
    }
  }

  private static @Nullable IndexException failureOf(Exception e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof TooManyOpenFilesException) {
        return new IndexException(IndexException.Kind.NO_FILES, String.valueOf(e.getMessage()), e);
      }
    }
    return IndexException.in(e);
  }

  /** False if the drive is closed meanwhile. */
  private boolean awaitRoom(IndexException.Kind kind) {
    boolean mayPass = kind.isWaitedFor() || kind == IndexException.Kind.UNREADABLE;
    if (mayPass && !isClosing) {
      LockSupport.parkNanos(this, LOOK_NANOS);
    }
    boolean isTold = false;
    while (!isClosing && !canBeOpened(kind)) {
      if (!isTold) {
        LOG.warn(
            "drive {} ({}): what can be read is read, until new files can be written in its index."
                + " See that its file system has room and is mounted for writing",
            drive,
            context.config().folder());
        isTold = true;
      }
      LockSupport.parkNanos(this, LOOK_NANOS);
    }
    return !isClosing;
  }

  /** Where it cannot be written to, an index that is readable is kept: it would not open again. */
  private boolean canBeOpened(IndexException.Kind kind) {
    return switch (kind) {
      case DAMAGED, UNFINISHED -> engine == null || isIndexWritable();
      case NO_SPACE -> hasRoom() && isIndexWritable();
      case NO_FILES, FAILED, UNREADABLE -> isIndexWritable();
    };
  }

  private boolean isIndexWritable() {
    try {
      folder.probeIndex();
      return true;
    } catch (IOException e) {
      LOG.debug("drive {}: its index cannot be written", drive, e);
      return false;
    }
  }

  private boolean hasRoom() {
    try {
      return folder.indexRoomBytes() >= context.config().limits().indexBytesMin();
    } catch (IOException e) {
      LOG.debug("drive {}: its room is not known", drive, e);
      return false;
    }
  }

  /** False if the drive is closed meanwhile. */
  private boolean endEngine() {
    DriveEngine present = engine;
    if (present == null) {
      return !isClosing;
    }
    isEngineEnding = true;
    if (!awaitEnd(present::stopWrites)) {
      return false;
    }
    IndexException cause = trouble;
    if (isLogInDoubt && cause != null) { // the last of its writes has failed
      isEngineEnding = false;
      leaveFailed(cause);
      return false;
    }
    if (!awaitEnd(present::stop)) {
      return false;
    }
    synchronized (this) {
      if (isClosing) {
        return false; // who closes the drive has the engine
      }
      engine = null;
    }
    try {
      present.close();
    } catch (IOException e) {
      LOG.warn("drive {}: a segment was not closed: {}", drive, e.toString());
    }
    return true;
  }

  /** False if the drive is closed meanwhile. */
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
    RocksShardIndex index = folder.openIndex(failure -> failed(next, failure));
    opening = index;
    if (isClosing) {
      index.endCommits();
    }
    return index;
  }

  private synchronized int nextGeneration() {
    return ++generation;
  }

  /**
   * Brings an index up to the end of the log, and serves with it; else closes it.
   *
   * @param isKept whether it is checkpointed, lest the same work is to be done after a crash
   */
  private void serve(RocksShardIndex index, boolean isKept) throws IOException {
    @Nullable DriveCore core = null;
    boolean isServed = false;
    try {
      core = folder.openCore(index, meters);
      if (isKept) {
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
        // the files of what hangs are not closed, and who closes the drive does not wait for ever
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
          "drive {} ({}) has found damage in its log while its index was made anew: it is"
              + " read-only until the process is restarted, and then in another incarnation",
          drive,
          context.config().folder());
    }
    if (isLater || isReadOnly) {
      opened.endWrites(ShardFault.READ_ONLY);
    }
    attempts.serves();
    opened.start(); // who finds that its index fails is heard once it is there
    engine = opened;
    isEngineEnding = false;
    isInLaterLife |= isLater;
    trouble = null;
  }

  private void giveUp(Throwable cause) {
    givenUp = cause;
    DriveEngine present = engine;
    if (present != null) {
      present.endWrites(ShardFault.READ_ONLY);
    }
    LOG.error(
        "drive {} ({}) is left as it is: its index failed again or could not be opened ({}). It"
            + " takes no writes. Check the drive's hardware and the memory, and what is mounted"
            + " there; then restart the process.{}",
        drive,
        context.config().folder(),
        cause.toString(),
        IndexException.in(cause) == null ? "" : DISCARD_ADVICE);
    LOG.debug("drive {} was given up here", drive, cause);
  }

  /**
   * Ends the engine, or what opens one.
   *
   * @param isWell whether the index is to be checkpointed
   * @return false if something hangs and is left open
   */
  boolean close(boolean isWell) throws IOException {
    Thread running;
    synchronized (this) {
      isClosing = true;
      running = mender;
    }
    RocksShardIndex unfinished = opening;
    if (unfinished != null) {
      unfinished.endCommits();
    }
    if (running != null) {
      LockSupport.unpark(running);
      if (!ThreadJoin.await(running, context.config().limits().stallTimeout())) {
        return false;
      }
    }
    DriveEngine last = engine;
    if (last == null) {
      return true;
    }
    if (!last.stop()) {
      return false;
    }
    try {
      if (isWell && trouble == null) {
        last.checkpoint();
      }
    } finally {
      last.close();
    }
    return true;
  }
}
