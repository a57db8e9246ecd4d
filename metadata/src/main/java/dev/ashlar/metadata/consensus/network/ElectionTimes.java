package dev.ashlar.metadata.consensus.network;

import java.time.Duration;

/**
 * How long followers wait for their leader before they elect another: a random time between the
 * two.
 *
 * @param min also how long a follower promises its vote to its leader
 */
public record ElectionTimes(Duration min, Duration max) {
  public static final ElectionTimes DEFAULT =
      new ElectionTimes(Duration.ofMillis(1500), Duration.ofMillis(3000));

  public ElectionTimes {
    if (min.toMillis() < 100 || max.compareTo(min) <= 0) {
      throw new IllegalArgumentException("election times " + min + " to " + max);
    }
  }
}
