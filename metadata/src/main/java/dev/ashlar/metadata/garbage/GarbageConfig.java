package dev.ashlar.metadata.garbage;

import java.time.Duration;

/**
 * How eagerly garbage is removed.
 *
 * @param grace how long after its last reference a blob stays, so that running reads finish
 * @param interval between rounds
 * @param blobsPerRoundMax with the interval, the rate
 * @param deleteTimeout how long a round waits for drives; what is not done comes again
 * @param retryDelay how long a blob rests of which a drive could not delete its shard
 */
public record GarbageConfig(
    Duration grace,
    Duration interval,
    int blobsPerRoundMax,
    Duration deleteTimeout,
    Duration retryDelay) {
  public static final GarbageConfig DEFAULT =
      new GarbageConfig(
          Duration.ofSeconds(60),
          Duration.ofMillis(500),
          2000,
          Duration.ofSeconds(30),
          Duration.ofSeconds(60));
}
