package dev.ashlar.protocol.client;

import java.util.List;

/**
 * A state of a shard.
 *
 * @param revision of the blob; 0: as first written
 * @param folded the last revision that changed this shard and that metadata knows to be folded; 0:
 *     none
 * @param unfolded the attempts after {@code folded}, up to {@code revision}, that changed this
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

  /** The unfolded attempts after this revision, oldest first. */
  public List<CommittedAttempt> unfoldedAfter(long after) {
    int first = 0;
    while (first < unfolded.size() && unfolded.get(first).revision() <= after) {
      first++;
    }
    return unfolded.subList(first, unfolded.size());
  }

  /** The last revision up to this one that changed the shard; 0: it is as first written. */
  public long lastChange() {
    return unfolded.isEmpty() ? folded : unfolded.getLast().revision();
  }
}
