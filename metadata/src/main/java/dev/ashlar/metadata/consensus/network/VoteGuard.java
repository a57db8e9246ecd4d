package dev.ashlar.metadata.consensus.network;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;

/**
 * Refuses Raft calls that Ratis would accept, to keep two promises: after each append, no other
 * peer gets this vote for some time, unless the leader itself has ended that ({@link LeaderLease}
 * relies on it); and a peer that has lost acknowledged entries can neither vote nor follow an old
 * leader.
 */
public final class VoteGuard {
  /**
   * Held from a check until the server has acted on it: no entries of another leader and no vote
   * may come in between.
   */
  private final ReentrantLock order = new ReentrantLock();

  private final long quietNanos;
  private long heardNanos;

  /** What was promised to the leaders of this term and those before counts no more. */
  private long releasedTerm = -1;

  private long termMin;
  private volatile boolean mayVote = true;

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

  /** A call of this peer's server. */
  interface Call<T> {
    T run() throws IOException;
  }

  /** Lets the server answer a request for its vote, if it may give one now. */
  <T> T vote(Call<T> call) throws IOException {
    order.lock();
    try {
      checkVote();
      return call.run();
    } finally {
      order.unlock();
    }
  }

  /**
   * Lets the server hear the leader of this term, if it may follow it. From then on the leader may
   * count on the promise that this peer votes for no other.
   */
  <T> T hear(long term, Call<T> call) throws IOException {
    order.lock();
    try {
      checkLeader(term);
      if (term > releasedTerm) {
        heardNanos = System.nanoTime();
      }
      return call.run();
    } finally {
      order.unlock();
    }
  }

  /** Whether this peer follows the leader that sent a message, in its present term. */
  interface Following {
    boolean isTrue() throws IOException;
  }

  /**
   * Ends what was promised to the leader of this term, which answers no more reads in it, and to
   * all before: that it was elected shows that no lease of theirs was left. Then runs the call.
   *
   * @throws IOException when the message is not from the leader of this peer's present term, so
   *     that a promise to a later one may be in force
   */
  <T> T release(long term, Following sender, Call<T> call) throws IOException {
    order.lock();
    try {
      if (!sender.isTrue()) {
        throw new IOException("the peer does not follow this leader in term " + term);
      }
      releasedTerm = Math.max(releasedTerm, term);
      heardNanos = System.nanoTime() - quietNanos;
      return call.run();
    } finally {
      order.unlock();
    }
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

  /**
   * The reply to a request for a vote as the candidate's server gets it. Ratis ignores the vote of
   * a peer whose log is empty, because it may have lost it. Here, a peer that has lost its log has
   * no vote. One that has received nothing yet must be able to elect a leader with another peer,
   * after the first leader failed: so the reply does not tell that its log is empty, as those of
   * Ratis' older versions.
   */
  static RequestVoteReplyProto counted(RequestVoteReplyProto reply) {
    boolean isEmpty = reply.hasLastEntry() && reply.getLastEntry().getTerm() == 0;
    return isEmpty ? reply.toBuilder().clearLastEntry().build() : reply;
  }
}
