package dev.ashlar.storage.drive.scrub;

import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.storage.drive.index.ReadThrottle;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.log.ThreadJoin;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The scrub thread of a drive. It reads everything repeatedly, at a rate that spreads a pass over
 * most of its period, and reports damage.
 */
public final class Scrubber {
  private static final Logger LOG = LoggerFactory.getLogger(Scrubber.class);

  /** A lower rate would only make the pass longer. */
  private static final long BYTES_PER_SECOND_MIN = 1 << 20;

  /** Share of the period in which a pass should finish. */
  private static final double SHARE = 0.8;

  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long REST_AFTER_FAILURE_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** Maximum delay of each read while client requests wait. */
  private static final long YIELD_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(50);

  private static final long YIELD_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Unused time that may be caught up. */
  private static final long SAVED_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final DriveId drive;
  private final ScrubPass scrub;
  private final ShardIndex index;
  private final ScrubConfig config;
  private final DamageListener listener;
  private final BooleanSupplier areClientsWaiting;
  private final Thread thread;
  private volatile boolean isStopping;
  private volatile boolean isWanted;

  /** When the next read may begin. Used by the scrub thread. */
  private long freeAtNanos = System.nanoTime();

  /** Whether this process has read the index in the current pass. */
  private boolean isIndexRead;

  /** How often and how fast a drive is scrubbed, and the listener for damage. */
  public record Task(ScrubConfig config, DamageListener listener) {}

  /**
   * @param areClientsWaiting whether client requests wait for the drive
   */
  public Scrubber(
      DriveId drive,
      ShardIndex index,
      Function<ReadThrottle, ScrubPass> scrub,
      Task task,
      BooleanSupplier areClientsWaiting,
      String name) {
    this.drive = drive;
    this.index = index;
    this.config = task.config();
    this.listener = task.listener();
    this.areClientsWaiting = areClientsWaiting;
    this.scrub = scrub.apply(this::take);
    thread = Thread.ofPlatform().name("drive-scrub-" + name).daemon().unstarted(this::run);
  }

  public void start() {
    thread.start();
  }

  /** Ends the scrub without waiting. */
  public void end() {
    isStopping = true;
    LockSupport.unpark(thread);
  }

  /** Starts a pass now, or continues the current one, at the maximum rate. */
  public void startNow() {
    isWanted = true;
    LockSupport.unpark(thread);
  }

  /**
   * Ends the thread.
   *
   * @return false if it hangs
   */
  public boolean stop(Duration timeout) {
    end();
    return ThreadJoin.await(thread, timeout);
  }

  public ScrubProgress progress() {
    ScrubState state = scrub.state();
    return new ScrubProgress(
        drive,
        state.isRunning(),
        state.startedMs(),
        state.finishedMs(),
        state.segments(),
        scrub.segmentsLeft(),
        state.verifiedBytes(),
        state.damagedBlocks(),
        state.unreadableDirectories());
  }

  private long bytesPerSecond() {
    long max = config.bytesPerSecondMax() == 0 ? Long.MAX_VALUE : config.bytesPerSecondMax();
    Duration since = scrub.sinceBegin();
    if (isWanted || since == null) {
      return config.bytesPerSecondMax();
    }
    double seconds = SHARE * config.period().toMillis() / 1000 - since.toMillis() / 1000.0;
    double needed = scrub.bytesLeft() / Math.max(1, seconds);
    return Math.min(max, Math.max(BYTES_PER_SECOND_MIN, (long) needed));
  }

  private boolean isDue() {
    Duration since = scrub.sinceBegin();
    boolean isOver = since == null || since.compareTo(config.period()) >= 0 || since.isNegative();
    return isWanted || (isOver && !config.period().equals(ScrubConfig.WHEN_ASKED));
  }

  private void run() {
    while (!isStopping) {
      try {
        if (!scrub.isRunning() && isDue()) {
          scrub.begin();
          isIndexRead = false;
        }
        if (scrub.isRunning() && !isIndexRead) {
          isIndexRead = verifyIndex();
        }
        while (scrub.isRunning() && !isStopping && scrub.readNext(listener)) {
          // one segment after the other
        }
        if (!scrub.isRunning()) {
          isWanted = false;
        }
        rest(LOOK_NANOS);
      } catch (IOException | RuntimeException e) {
        LOG.warn("Drive {}: the scrub pauses after a failure", drive, e);
        rest(REST_AFTER_FAILURE_NANOS);
      }
    }
  }

  /** Verifies the index; segments are read even if that fails. */
  private boolean verifyIndex() {
    try {
      return index.verify(this::take);
    } catch (IOException | RuntimeException e) {
      LOG.warn(
          "Drive {}: verifying the index failed; the scrub continues with the segments", drive, e);
      return false;
    }
  }

  /**
   * Limits the rate of reads and yields to client requests.
   *
   * @return false if reading has to stop
   */
  private boolean take(int bytes) {
    long rate = bytesPerSecond();
    long now = System.nanoTime();
    long wait = rate == 0 ? 0 : Math.max(freeAtNanos - now, -SAVED_NANOS);
    freeAtNanos = now + wait + (rate == 0 ? 0 : (long) (bytes * 1e9 / rate));
    for (long left = wait; left > 0 && !isStopping; left = now + wait - System.nanoTime()) {
      LockSupport.parkNanos(this, left);
    }
    long yieldedUntil = System.nanoTime() + YIELD_NANOS_MAX;
    while (!isStopping && areClientsWaiting.getAsBoolean() && System.nanoTime() < yieldedUntil) {
      LockSupport.parkNanos(this, YIELD_LOOK_NANOS);
    }
    return !isStopping;
  }

  private void rest(long nanos) {
    if (!isStopping) {
      LockSupport.parkNanos(this, nanos);
    }
  }
}
