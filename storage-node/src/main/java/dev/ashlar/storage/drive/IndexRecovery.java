package dev.ashlar.storage.drive;

import dev.ashlar.storage.drive.index.IndexException;
import dev.ashlar.storage.drive.log.ThreadJoin;
import dev.ashlar.storage.drive.metrics.DriveMetrics;
import dev.ashlar.storage.io.TooManyOpenFilesException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Recovers an index that has failed, on a thread of its own: waits until its files can be written,
 * has the engine closed, and has the index opened again or, if it is damaged, rebuilt from the log.
 */
final class IndexRecovery {
  private static final Logger LOG = LoggerFactory.getLogger(IndexRecovery.class);

  /** Between two checks whether the files of the index can be written. */
  private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final DriveEngine.Context context;
  private final DriveDirectory directory;
  private final DriveMetrics meters;
  private final EngineSupervisor engines;
  private final IndexRecoveryLimit limit;
  private volatile @Nullable Thread thread;

  IndexRecovery(
      DriveEngine.Context context,
      DriveDirectory directory,
      DriveMetrics meters,
      EngineSupervisor engines) {
    this.context = context;
    this.directory = directory;
    this.meters = meters;
    this.engines = engines;
    limit = new IndexRecoveryLimit(context.nanoTime());
  }

  void start() {
    Thread started =
        Thread.ofPlatform().name("drive-mend-" + context.name()).daemon().unstarted(this::run);
    thread = started;
    started.start();
  }

  /** Waits for the end of the recovery, if one runs. */
  void await(Duration timeout) {
    Thread running = thread;
    if (running != null) {
      ThreadJoin.await(running, timeout);
    }
  }

  /** Ends the recovery when the supervisor is closing; false if it hangs. */
  boolean stop() {
    Thread running = thread;
    if (running == null) {
      return true;
    }
    LockSupport.unpark(running);
    return ThreadJoin.await(running, context.config().limits().stallTimeout());
  }

  /** An index serves from now on. */
  void succeeded() {
    limit.serves();
  }

  private void run() {
    try {
      recover();
    } catch (RuntimeException | Error e) { // such as no memory: it has to be reported
      engines.giveUp(e);
    }
  }

  private void recover() {
    long began = System.nanoTime();
    IndexException cause = engines.indexFailure();
    while (cause != null) {
      IndexException.Kind kind = limit.judge(cause.kind());
      if (!limit.mayTry(kind)) {
        engines.giveUp(cause);
        return;
      }
      LOG.atLevel(kind == IndexException.Kind.UNFINISHED ? Level.WARN : Level.ERROR)
          .log("Drive {}: {}. {}", engines.label(), cause.getMessage(), kind.remedy());
      if (!awaitWritable(kind) || !engines.closeEngine()) {
        return;
      }
      cause = tryAgain(kind);
    }
    if (engines.isServing()) {
      LOG.warn(
          "Drive {} serves again: its index was recovered in {} ms",
          engines.label(),
          TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began));
    }
  }

  /** The new failure of the index; null if the drive serves, or recovery has ended. */
  private @Nullable IndexException tryAgain(IndexException.Kind kind) {
    try {
      if (kind.isDiscarded()) {
        directory.discardIndex();
      }
      if (kind.isDiscarded() || kind == IndexException.Kind.UNFINISHED) {
        meters.indexRebuild();
      }
      engines.reopen();
      return null;
    } catch (IOException | RuntimeException e) {
      IndexException again = failureOf(e);
      if (again == null && !engines.isClosing()) {
        engines.giveUp(e);
      }
      return engines.isClosing() ? null : again;
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
  private boolean awaitWritable(IndexException.Kind kind) {
    boolean isTransient = kind.isWaitedFor() || kind == IndexException.Kind.UNREADABLE;
    if (isTransient && !engines.isClosing()) {
      LockSupport.parkNanos(this, CHECK_NANOS);
    }
    boolean isLogged = false;
    while (!engines.isClosing() && !canBeOpened(kind)) {
      if (!isLogged) {
        LOG.warn(
            "Drive {} serves only reads until files of its index can be written. Check that"
                + " its file system has free space and is mounted for writing",
            engines.label());
        isLogged = true;
      }
      LockSupport.parkNanos(this, CHECK_NANOS);
    }
    return !engines.isClosing();
  }

  /** A readable index is kept if it cannot be written: it could not be opened again. */
  private boolean canBeOpened(IndexException.Kind kind) {
    return switch (kind) {
      case DAMAGED, UNFINISHED -> engines.engine() == null || isIndexWritable();
      case NO_SPACE -> hasRoom() && isIndexWritable();
      case NO_FILES, FAILED, UNREADABLE -> isIndexWritable();
    };
  }

  private boolean isIndexWritable() {
    try {
      directory.probeIndex();
      return true;
    } catch (IOException e) {
      LOG.debug("Drive {}: its index cannot be written", engines.drive(), e);
      return false;
    }
  }

  private boolean hasRoom() {
    try {
      return directory.indexRoomBytes() >= context.config().limits().indexBytesMin();
    } catch (IOException e) {
      LOG.debug("Drive {}: its free space is unknown", engines.drive(), e);
      return false;
    }
  }
}
