package dev.ashlar.metadata.consensus.network;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.ratis.protocol.RaftPeerId;

/**
 * Until when a leader knows that no other can have been elected: each acknowledged append says that
 * its follower will vote for nobody else for a while ({@link VoteGuard}), counted from before it
 * was sent. With a majority of them what the leader has applied is what a read must see, and no
 * message has to be sent for it.
 *
 * <p>While the members change, a majority of those before and of those after is needed, as for a
 * commit. What was held before stays held: whoever is elected next has a majority of members that
 * this leader knew, or of some that differ from them by one, and so one of those that promised.
 *
 * <p>Ratis has leases too, but answers from a lapsed one when it once has confirmed the same commit
 * index, and its followers keep no promise to a leader of an older term.
 */
public final class LeaderLease {
  /** Of the time for which followers keep their promise: the rest is for clocks that differ. */
  private static final double SHARE = 0.9;

  private final RaftPeerId self;
  private final long leaseNanos;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition news = lock.newCondition();
  private final Map<RaftPeerId, Promise> promises = new HashMap<>();

  /** Of the term, and until when it holds. */
  private volatile Held held = new Held(-1, 0);

  private record Promise(long term, long sentNanos) {}

  private record Held(long term, long untilNanos) {}

  /**
   * @param promise how long a follower votes for nobody else
   */
  public LeaderLease(RaftPeerId self, Duration promise) {
    this.self = self;
    this.leaseNanos = (long) (promise.toNanos() * SHARE);
  }

  /**
   * The follower has taken an append of this term as one of its leader.
   *
   * @param members as this leader knows them, asked for after the answer came
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

  public boolean isHeld(long term) {
    Held now = held;
    return now.term() == term && now.untilNanos() - System.nanoTime() > 0;
  }

  /** Waits for followers to acknowledge enough, so long at most. */
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
