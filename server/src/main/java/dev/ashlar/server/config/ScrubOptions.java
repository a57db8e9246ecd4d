package dev.ashlar.server.config;

import dev.ashlar.storage.drive.ScrubConfig;
import java.time.Duration;

/**
 * How drives are read through.
 *
 * @param period in which a drive reads all that it holds
 * @param bytesPerSecond that it reads for that at most; 0: as many as it can
 * @param lightPeriod in which what it holds is compared with metadata
 */
public record ScrubOptions(Duration period, long bytesPerSecond, Duration lightPeriod) {
  public ScrubOptions {
    if (period.isNegative() || lightPeriod.isNegative()) {
      throw new IllegalArgumentException("--scrub-period and --light-scrub-period take 0 or more");
    }
    if (bytesPerSecond < 0) {
      throw new IllegalArgumentException("--scrub-rate takes bytes, not " + bytesPerSecond);
    }
  }

  public ScrubConfig ofDrive() {
    return new ScrubConfig(period, bytesPerSecond);
  }
}
