package dev.ashlar.metadata.consensus;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.ratis.protocol.RaftPeerId;

/**
 * Until when a leader knows that no other can have been elected: each acknowledged append says that
 * its follower will vote for nobody else for a while ({@link PeerGuard}), counted from before it
 * was sent. With a majority of them what the leader has applied is what a read must see, and no
 * message has to be sent for it.
 *
 * <p>Ratis has leases too, but answers from a lapsed one when it once has confirmed the same commit
 * index, and its followers keep no promise to a leader of an older term.
 */
final class LeaderLease {
  /** Of the time for which followers keep their promise: the rest is for clocks that differ. */
  private static final double SHARE = 0.9;

  private final int peers;
  private final long leaseNanos;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition news = lock.newCondition();
  private final Map<RaftPeerId, Promise> promises = new HashMap<>();

  /** Of the term, and until when it holds. */
  private volatile Held held = new Held(-1, 0);

  private record Promise(long term, long sentNanos) {}

  private record Held(long term, long untilNanos) {}

  /**
   * @param peers of the group, the leader included
   * @param promise how long a follower votes for nobody else
   */
  LeaderLease(int peers, Duration promise) {
    this.peers = peers;
    this.leaseNanos = (long) (promise.toNanos() * SHARE);
  }

  /** The follower has taken an append of this term as one of its leader. */
  void acknowledged(RaftPeerId follower, long term, long sentNanos) {
    lock.lock();
    try {
      if (term < held.term()) {
        return;
      }
      promises.merge(follower, new Promise(term, sentNanos), LeaderLease::stronger);
      held = new Held(term, majoritySentNanos(term, sentNanos) + leaseNanos);
      news.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private static Promise stronger(Promise known, Promise heard) {
    boolean isNews = heard.term() > known.term() || heard.sentNanos() - known.sentNanos() > 0;
    return isNews ? heard : known;
  }

  /** When the last of the latest majority was asked; long ago if there is none. */
  private long majoritySentNanos(long term, long nowNanos) {
    int needed = peers / 2; // beside the leader itself
    return promises.values().stream()
        .filter(promise -> promise.term() == term)
        .map(Promise::sentNanos)
        .sorted((one, other) -> Long.compare(other - nowNanos, one - nowNanos))
        .skip(needed - 1)
        .findFirst()
        .orElse(nowNanos - leaseNanos);
  }

  boolean isHeld(long term) {
    Held now = held;
    return peers == 1 || (now.term() == term && now.untilNanos() - System.nanoTime() > 0);
  }

  /** Waits for followers to acknowledge enough, so long at most. */
  void awaitHeld(long term, Duration most) throws InterruptedException {
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
