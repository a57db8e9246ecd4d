package dev.ashlar.storage.drive;

import dev.ashlar.storage.drive.config.DriveConfig;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Whether a drive counts as failed because something that it was asked for has not come back for
 * too long. It is well again once it has answered everything soon for a while; each time that while
 * is twice as long, so that a drive that hangs again and again stays failed.
 */
final class HangDetector {
  /** Between looks that are farther apart the process may have stood still, and not the drive. */
  private static final long GAP_NANOS_MAX = Duration.ofSeconds(5).toNanos();

  private static final long REST_NANOS_MAX = Duration.ofHours(1).toNanos();

  private final long failedAfterNanos;
  private final long soonNanos;
  private final LongSupplier nanoTime;
  private long lookedNanos;
  private long awakeSinceNanos;
  private long soonSinceNanos;
  private long restNanos;
  private volatile boolean hasFailed;

  HangDetector(DriveConfig.Limits limits, LongSupplier nanoTime) {
    failedAfterNanos = limits.hangTimeout().toNanos();
    soonNanos = Math.min(failedAfterNanos, limits.stallTimeout().toNanos());
    restNanos = failedAfterNanos;
    this.nanoTime = nanoTime;
    lookedNanos = nanoTime.getAsLong();
    awakeSinceNanos = lookedNanos;
  }

  /**
   * By one thread.
   *
   * @param oldestNanos for how long the oldest of what runs has been running; 0: nothing runs
   */
  void look(long oldestNanos) {
    long now = nanoTime.getAsLong();
    if (now - lookedNanos > GAP_NANOS_MAX) {
      awakeSinceNanos = now;
    }
    lookedNanos = now;
    long hanging = Math.min(oldestNanos, now - awakeSinceNanos);
    if (hanging > soonNanos || !hasFailed) {
      soonSinceNanos = now;
    }
    if (hanging > failedAfterNanos) {
      hasFailed = true;
    } else if (hasFailed && now - soonSinceNanos >= restNanos) {
      hasFailed = false;
      restNanos = Math.min(2 * restNanos, REST_NANOS_MAX);
    }
  }

  boolean hasFailed() {
    return hasFailed;
  }
}
