package dev.ashlar.storage.drive;

import dev.ashlar.storage.drive.config.DriveConfig;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Declares a drive failed when one of its I/Os has hung for too long. The drive recovers after it
 * has responded promptly for a rest period. The period doubles each time, so that a drive that
 * hangs repeatedly stays failed.
 */
final class HangDetector {
  /** After a longer gap between two checks the process may have been suspended, not the drive. */
  private static final long GAP_NANOS_MAX = Duration.ofSeconds(5).toNanos();

  private static final long REST_NANOS_MAX = Duration.ofHours(1).toNanos();

  private final long failedAfterNanos;
  private final long soonNanos;
  private final LongSupplier nanoTime;
  private long updatedNanos;
  private long awakeSinceNanos;
  private long soonSinceNanos;
  private long restNanos;
  private volatile boolean hasFailed;

  HangDetector(DriveConfig.Limits limits, LongSupplier nanoTime) {
    failedAfterNanos = limits.hangTimeout().toNanos();
    soonNanos = Math.min(failedAfterNanos, limits.stallTimeout().toNanos());
    restNanos = failedAfterNanos;
    this.nanoTime = nanoTime;
    updatedNanos = nanoTime.getAsLong();
    awakeSinceNanos = updatedNanos;
  }

  /**
   * Called by one thread.
   *
   * @param oldestNanos age of the oldest running I/O; 0: none runs
   */
  void update(long oldestNanos) {
    long now = nanoTime.getAsLong();
    if (now - updatedNanos > GAP_NANOS_MAX) {
      awakeSinceNanos = now;
    }
    updatedNanos = now;
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
