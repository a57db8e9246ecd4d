package dev.ashlar.blob.repair;

import dev.ashlar.blob.context.ByteRateLimiter;

/**
 * Separate rate limits, so that repair of missing shards never waits for moves.
 *
 * @param lost limit of bytes read to rebuild missing shards
 * @param moves limit of bytes copied to move shards to other drives
 */
public record RepairRates(ByteRateLimiter lost, ByteRateLimiter moves) {
  /** Without limits. */
  public static RepairRates unbounded() {
    return new RepairRates(new ByteRateLimiter(0), new ByteRateLimiter(0));
  }
}
