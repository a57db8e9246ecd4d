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
 * The thread that reads all of a drive again and again, so slowly that a pass takes most of its
 * period, and what it finds damaged it tells.
 */
public final class Scrubber {
  private static final Logger LOG = LoggerFactory.getLogger(Scrubber.class);

  /** Slower is not worth while: it would only make the pass longer. */
  private static final long BYTES_PER_SECOND_MIN = 1 << 20;

  /** Share of the period in which a pass should be through. */
  private static final double SHARE = 0.8;

  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long REST_AFTER_FAILURE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final DriveId drive;
  private final ScrubPass scrub;
  private final ShardIndex index;
  private final ScrubConfig config;
  private final DamageListener listener;
  private final ScrubThrottle pace;
  private final Thread thread;
  private volatile boolean isStopping;
  private volatile boolean isWanted;

  /** In the pass that is under way, by this process. */
  private boolean isIndexRead;

  /** How often and how fast a drive is scrubbed, and what is told of damage. */
  public record Task(ScrubConfig config, DamageListener listener) {}

  /**
   * @param areClientsWaiting whether somebody else waits for the drive
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
    pace = new ScrubThrottle(this::bytesPerSecond, areClientsWaiting);
    this.scrub = scrub.apply(pace);
    thread = Thread.ofPlatform().name("drive-scrub-" + name).daemon().unstarted(this::run);
  }

  public void start() {
    thread.start();
  }

  /** Reads no more, and waits for nobody: the drive is written to no more. */
  public void end() {
    isStopping = true;
    pace.end();
    LockSupport.unpark(thread);
  }

  /** Begins a pass now, or goes on with the one that is under way, as fast as is allowed. */
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
        LOG.warn("the scrub of drive {} rests after a failure", drive, e);
        rest(REST_AFTER_FAILURE_NANOS);
      }
    }
  }

  /** Data is read also while the index cannot be. */
  private boolean verifyIndex() {
    try {
      return index.verify(pace);
    } catch (IOException | RuntimeException e) {
      LOG.warn("drive {}: its index could not be verified; its segments are", drive, e);
      return false;
    }
  }

  private void rest(long nanos) {
    if (!isStopping) {
      LockSupport.parkNanos(this, nanos);
    }
  }
}
