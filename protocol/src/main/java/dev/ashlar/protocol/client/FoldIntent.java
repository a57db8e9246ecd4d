package dev.ashlar.protocol.client;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.ShardId;

/**
 * Makes what a committed attempt wrote part of the shard proper.
 *
 * @param revision that the attempt made, at least 1
 * @param after the last revision before it that touched this shard, 0 when none did: until the
 *     drive has folded that, it must not fold this one, or the one between would count as folded
 */
public record FoldIntent(ShardId shard, AttemptId attempt, long revision, long after) {
  public FoldIntent {
    if (after < 0 || revision <= after) {
      throw new IllegalArgumentException("revision " + revision + " after " + after);
    }
  }
}
