package dev.ashlar.protocol.client;

import java.util.List;

/**
 * Which state of a shard is meant.
 *
 * @param revision of the blob; 0: as first written
 * @param folded the last revision that touched this shard and that metadata knows to be folded into
 *     it; 0: none
 * @param unfolded the attempts behind {@code folded}, up to {@code revision}, that touched this
 *     shard, oldest first; a drive may have folded some of them already
 */
public record ShardView(long revision, long folded, List<CommittedAttempt> unfolded) {
  /** A shard of a blob that was never changed. */
  public static final ShardView ORIGINAL = new ShardView(0, 0, List.of());

  public ShardView {
    unfolded = List.copyOf(unfolded);
    if (folded < 0 || folded > revision) {
      throw new IllegalArgumentException("revision " + revision + " with folded " + folded);
    }
    long last = folded;
    for (CommittedAttempt attempt : unfolded) {
      if (attempt.revision() <= last || attempt.revision() > revision) {
        throw new IllegalArgumentException(
            "revision " + revision + " with folded " + folded + " and unfolded " + unfolded);
      }
      last = attempt.revision();
    }
  }

  /** The last revision up to this one that touched the shard; 0: none, it is as first written. */
  public long lastChange() {
    return unfolded.isEmpty() ? folded : unfolded.getLast().revision();
  }
}
