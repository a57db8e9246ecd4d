package dev.ashlar.protocol.client;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.ShardId;

/**
 * Makes what a committed attempt wrote part of the shard proper.
 *
 * @param revision that the attempt made, at least 1
 */
public record Fold(ShardId shard, AttemptId attempt, long revision) {
  public Fold {
    if (revision < 1) {
      throw new IllegalArgumentException("revision " + revision);
    }
  }
}
