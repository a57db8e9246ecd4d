package dev.ashlar.metadata.consensus.network;

import java.io.IOException;
import java.time.Duration;

/**
 * Refuses Raft calls that Ratis would accept, to keep two promises: after each append, no other
 * peer gets this vote for some time ({@link LeaderLease} relies on it); and a peer that has lost
 * acknowledged entries can neither vote nor follow an old leader. Used under one lock with the
 * guarded call.
 */
public final class VoteGuard {
  private final long quietNanos;
  private long heardNanos;
  private long termMin;
  private boolean mayVote = true;

  /**
   * @param quiet how long no vote is given after an append; it begins at the start, because earlier
   *     promises are not known
   * @param isNew the Raft group has had no leader yet, so nothing was promised
   */
  public VoteGuard(Duration quiet, boolean isNew) {
    quietNanos = quiet.toNanos();
    heardNanos = System.nanoTime() - (isNew ? quietNanos : 0);
  }

  /**
   * This peer has lost its content: it follows only leaders from this term on, and has no vote
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

  /** From now on the leader may count on the promise that this peer votes for no other. */
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
