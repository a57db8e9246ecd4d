package dev.ashlar.blob.context;

import java.time.Duration;

/**
 * Limits of hedged reads.
 *
 * @param budgetPercent extra reads in percent of all other reads, at most; 0 to 100, 0 is off
 * @param lateMin no read is late before, however fast its drive usually is
 */
public record HedgeConfig(int budgetPercent, Duration lateMin) {
  public static final HedgeConfig OFF = new HedgeConfig(0, Duration.ZERO);

  public HedgeConfig {
    if (budgetPercent < 0 || budgetPercent > 100) {
      throw new IllegalArgumentException(
          "hedging budget must be 0 to 100 percent: " + budgetPercent);
    }
  }

  /** Reads are late after 10 ms at the earliest: schedulers and healthy drives may take that. */
  public static HedgeConfig of(int budgetPercent) {
    return new HedgeConfig(budgetPercent, Duration.ofMillis(10));
  }
}
