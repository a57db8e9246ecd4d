package dev.ashlar.metadata.consensus.network;

import java.io.IOException;
import java.time.Duration;

/**
 * What a peer refuses whatever Ratis would answer, so that two promises are kept: to a leader, that
 * nobody else gets this vote for a while after each append ({@link LeaderLease} counts on it); and
 * to all, that a peer which has forgotten what it acknowledged does no harm. Used under one lock
 * with what it guards.
 */
public final class VoteGuard {
  private final long quietNanos;
  private long heardNanos;
  private long termMin;
  private boolean mayVote = true;

  /**
   * @param quiet how long no vote is given after an append; it begins now, because what was
   *     promised before the start is not known
   * @param isNew the group is about to have its first leader, so nothing was promised
   */
  public VoteGuard(Duration quiet, boolean isNew) {
    quietNanos = quiet.toNanos();
    heardNanos = System.nanoTime() - (isNew ? quietNanos : 0);
  }

  /**
   * This peer has lost what it knew: it follows leaders from this term on only, and has no vote
   * until {@link #setMember}.
   */
  public void setRebuilding(long newTermMin) {
    termMin = newTermMin;
    mayVote = false;
  }

  void setMember() {
    mayVote = true;
  }

  void checkLeader(long term) throws IOException {
    if (term < termMin) {
      throw new IOException(
          "this peer is being rebuilt, and term " + term + " is before " + termMin);
    }
  }

  /** A leader may take what this peer answers now for the promise to vote for nobody else. */
  void heard() {
    heardNanos = System.nanoTime();
  }

  void checkMayVote() throws IOException {
    if (!mayVote) {
      throw new IOException("this peer is being rebuilt and has no vote");
    }
  }

  void checkVote() throws IOException {
    checkMayVote();
    if (System.nanoTime() - heardNanos < quietNanos) {
      throw new IOException("this peer has a leader, or has just started");
    }
  }
}
