package dev.ashlar.metadata.consensus.network;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.ratis.protocol.RaftPeerId;

/**
 * The time in which a leader knows that no other peer can be elected. With each acknowledged append
 * the follower promises to vote for no other peer for some time ({@link VoteGuard}), counted from
 * before the append was sent. While a majority of promises holds, the leader answers reads from
 * what it has applied, without sending a message.
 *
 * <p>During a membership change, a majority of both the old and the new members is needed, as for a
 * commit. An earlier lease stays valid: the next leader needs a majority of members that this
 * leader knew, or that differ from them by one, and so the vote of a peer that has promised.
 *
 * <p>Ratis has leases too, but may answer from an expired one if it has confirmed the same commit
 * index before, and its followers keep no promise to a leader of an older term.
 */
public final class LeaderLease {
  /** The share of the promised time that is used; the rest allows for clocks of different speed. */
  private static final double SHARE = 0.9;

  private final RaftPeerId self;
  private final long leaseNanos;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition news = lock.newCondition();
  private final Map<RaftPeerId, Promise> promises = new HashMap<>();

  /** The lease's term and end. */
  private volatile Held held = new Held(-1, 0);

  /** The last term without a lease, whatever followers acknowledge. */
  private volatile long givenUp = -1;

  private record Promise(long term, long sentNanos) {}

  private record Held(long term, long untilNanos) {}

  /**
   * @param promise how long a follower votes for no other peer
   */
  public LeaderLease(RaftPeerId self, Duration promise) {
    this.self = self;
    this.leaseNanos = (long) (promise.toNanos() * SHARE);
  }

  /**
   * The follower has accepted an append of this term from this leader.
   *
   * @param members according to this leader, read after the answer arrived
   */
  void acknowledged(RaftPeerId follower, long term, long sentNanos, RaftMembers members) {
    lock.lock();
    try {
      if (term < held.term()) {
        return;
      }
      promises.merge(follower, new Promise(term, sentNanos), LeaderLease::stronger);
      held = new Held(term, sentNanos(members, term, sentNanos) + leaseNanos);
      news.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private static Promise stronger(Promise known, Promise heard) {
    boolean isNews = heard.term() > known.term() || heard.sentNanos() - known.sentNanos() > 0;
    return isNews ? heard : known;
  }

  private long sentNanos(RaftMembers members, long term, long nowNanos) {
    long sent = majoritySentNanos(members.peers().keySet(), term, nowNanos);
    if (!members.isChanging()) {
      return sent;
    }
    long before = majoritySentNanos(members.before().keySet(), term, nowNanos);
    return before - sent < 0 ? before : sent;
  }

  /** When the last of the latest majority was asked; long ago if there is none. */
  private long majoritySentNanos(Set<RaftPeerId> voters, long term, long nowNanos) {
    int needed = voters.size() / 2 + (voters.contains(self) ? 0 : 1); // beside the leader itself
    if (needed == 0) {
      return nowNanos;
    }
    return promises.entrySet().stream()
        .filter(promise -> voters.contains(promise.getKey()) && promise.getValue().term() == term)
        .map(promise -> promise.getValue().sentNanos())
        .sorted((one, other) -> Long.compare(other - nowNanos, one - nowNanos))
        .skip(needed - 1)
        .findFirst()
        .orElse(nowNanos - leaseNanos);
  }

  /**
   * Whether it is held in this term. That it is not given up is seen last: so it was not given up
   * either when its time was compared.
   */
  public boolean isHeld(long term) {
    Held now = held;
    return now.term() == term && now.untilNanos() - System.nanoTime() > 0 && term > givenUp;
  }

  /**
   * Gives the lease up in this term, for good. Reads that found it held have been, or will be,
   * answered from tables that hold everything answered before they found it.
   */
  void giveUp(long term) {
    lock.lock();
    try {
      givenUp = Math.max(givenUp, term);
    } finally {
      lock.unlock();
    }
  }

  /** Waits until enough followers have acknowledged, but not longer than {@code most}. */
  public void awaitHeld(long term, Duration most) throws InterruptedException {
    long left = most.toNanos();
    lock.lockInterruptibly();
    try {
      while (left > 0 && !isHeld(term)) {
        left = news.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }
}
