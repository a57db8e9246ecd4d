package dev.ashlar.blob.context;

import java.time.Duration;

/**
 * How much is read twice to not wait for slow drives.
 *
 * @param budgetPercent reads made for it, of all others, at most; 0 to 100, 0 is off
 * @param lateMin no read is late before, however fast its drive usually is
 */
public record HedgeConfig(int budgetPercent, Duration lateMin) {
  public static final HedgeConfig OFF = new HedgeConfig(0, Duration.ZERO);

  public HedgeConfig {
    if (budgetPercent < 0 || budgetPercent > 100) {
      throw new IllegalArgumentException(
          "hedged reads take 0 to 100 percent of the others, not " + budgetPercent);
    }
  }

  /** Later than what a busy machine's scheduler and a healthy drive's worst moments take. */
  public static HedgeConfig of(int budgetPercent) {
    return new HedgeConfig(budgetPercent, Duration.ofMillis(10));
  }
}
