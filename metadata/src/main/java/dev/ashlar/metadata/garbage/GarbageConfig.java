package dev.ashlar.metadata.garbage;

import java.time.Duration;

/**
 * Settings of garbage collection.
 *
 * @param grace how long a blob stays after its last reference is gone, so that reads can begin with
 *     what they looked up a moment before
 * @param heldByReadMax how much longer it stays while a running read may need it
 * @param interval between rounds
 * @param blobsPerRoundMax limits the rate, together with the interval
 * @param deleteTimeout how long a round waits for drives; the rest is retried
 * @param retryDelay the pause before blobs that could not be deleted are retried
 */
public record GarbageConfig(
    Duration grace,
    Duration heldByReadMax,
    Duration interval,
    int blobsPerRoundMax,
    Duration deleteTimeout,
    Duration retryDelay) {
  public static final GarbageConfig DEFAULT =
      new GarbageConfig(
          Duration.ofSeconds(60),
          Duration.ofHours(6),
          Duration.ofMillis(500),
          2000,
          Duration.ofSeconds(30),
          Duration.ofSeconds(60));
}
