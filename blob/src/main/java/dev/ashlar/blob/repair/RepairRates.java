package dev.ashlar.blob.repair;

import dev.ashlar.blob.context.ByteRateLimiter;

/**
 * How fast shards are made anew or moved; what is lacking need not wait for what is only moved.
 *
 * @param lost of what is read because shards are lacking
 * @param moves of what is copied because shards are to be on other drives
 */
public record RepairRates(ByteRateLimiter lost, ByteRateLimiter moves) {
  /** As fast as it can. */
  public static RepairRates unbounded() {
    return new RepairRates(new ByteRateLimiter(0), new ByteRateLimiter(0));
  }
}
