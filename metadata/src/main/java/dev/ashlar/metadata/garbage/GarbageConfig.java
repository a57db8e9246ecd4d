package dev.ashlar.metadata.garbage;

import java.time.Duration;

/**
 * How eagerly garbage is removed.
 *
 * @param grace how long after its last reference a blob stays, so that reads can begin with what
 *     they saw a moment before
 * @param heldByReadMax how much longer it stays while a read runs that may need it
 * @param interval between rounds
 * @param blobsPerRoundMax with the interval, the rate
 * @param deleteTimeout how long a round waits for drives; what is not done comes again
 * @param retryDelay how long what could not be deleted rests before it is tried again
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
