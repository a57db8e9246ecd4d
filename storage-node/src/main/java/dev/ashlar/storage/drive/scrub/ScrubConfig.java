package dev.ashlar.storage.drive.scrub;

import java.time.Duration;

/**
 * How a drive looks at all that it holds.
 *
 * @param period in which everything is read once
 * @param bytesPerSecondMax that are read at most; 0: as many as it can
 */
public record ScrubConfig(Duration period, long bytesPerSecondMax) {
  /** A period that never comes to its end. */
  public static final Duration WHEN_ASKED = Duration.ofDays(365_000);

  public ScrubConfig {
    if (period.isNegative() || period.isZero() || bytesPerSecondMax < 0) {
      throw new IllegalArgumentException(
          "scrub in " + period + " with " + bytesPerSecondMax + " bytes per second");
    }
  }
}
