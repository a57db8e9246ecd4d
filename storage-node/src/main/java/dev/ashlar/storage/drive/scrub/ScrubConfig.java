package dev.ashlar.storage.drive.scrub;

import java.time.Duration;

/**
 * Configuration of the scrub.
 *
 * @param period time in which everything is read once
 * @param bytesPerSecondMax maximum read rate; 0: unlimited
 */
public record ScrubConfig(Duration period, long bytesPerSecondMax) {
  /** A period that never ends: scrubs run on request only. */
  public static final Duration WHEN_ASKED = Duration.ofDays(365_000);

  public ScrubConfig {
    if (period.isNegative() || period.isZero() || bytesPerSecondMax < 0) {
      throw new IllegalArgumentException(
          "scrub in " + period + " with " + bytesPerSecondMax + " bytes per second");
    }
  }
}
