package dev.ashlar.metadata.consensus.network;

import java.io.InterruptedIOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.RaftPeerId;

/**
 * The order in which peers learn of a membership change, so that the remaining peers can elect a
 * leader at any time. From the entry that begins a change, Ratis needs a majority of both the old
 * and the new members. But it lets an added peer vote only after it has received that entry, and a
 * removed peer that misses its leader shuts down instead of voting. So an added peer learns of the
 * change first; a removed peer never does, as long as there is a majority without it.
 *
 * <p>This concerns the leader that begins the change. A leader that finds the entry in its log was
 * elected by majorities of both.
 */
final class MembershipChangeOrder {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition news = lock.newCondition();
  private final Map<RaftPeerId, Long> acknowledged = new HashMap<>();
  private long term;

  /**
   * Returns when this request may be sent to this follower.
   *
   * @param members according to the sending leader
   */
  void awaitTurn(RaftPeerId follower, AppendEntriesRequestProto request, RaftMembers members)
      throws InterruptedIOException {
    if (!members.isChanging() || !begins(request, members.index())) {
      return;
    }
    Set<RaftPeerId> coming = new HashSet<>(members.peers().keySet());
    coming.removeAll(members.before().keySet());
    boolean isLast = isWithout(follower, members);
    if (!isLast && coming.contains(follower)) {
      return;
    }
    try {
      lock.lockInterruptibly();
      try {
        // Ratis interrupts the wait when the change is over or this peer is no longer the leader.
        while (isLast || !haveGot(members.index(), request.getLeaderTerm(), coming)) {
          news.await();
        }
      } finally {
        lock.unlock();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException(
          "interrupted while other peers were told of a membership change");
    }
  }

  /** Whether the request contains members that the leader has written but does not use yet. */
  static boolean isAhead(AppendEntriesRequestProto request, RaftMembers members) {
    return request.getEntriesList().stream()
        .anyMatch(entry -> entry.hasConfigurationEntry() && entry.getIndex() > members.index());
  }

  /** Whether the request contains the entry with this index, of the leader's own term. */
  private static boolean begins(AppendEntriesRequestProto request, long index) {
    return request.getEntriesList().stream()
        .anyMatch(entry -> entry.getIndex() == index && entry.getTerm() == request.getLeaderTerm());
  }

  private static boolean isWithout(RaftPeerId follower, RaftMembers members) {
    Set<RaftPeerId> staying = new HashSet<>(members.before().keySet());
    staying.retainAll(members.peers().keySet());
    return !members.peers().containsKey(follower) && staying.size() > members.before().size() / 2;
  }

  private boolean haveGot(long index, long inTerm, Set<RaftPeerId> coming) {
    return coming.isEmpty()
        || (term == inTerm
            && coming.stream().allMatch(peer -> acknowledged.getOrDefault(peer, -1L) >= index));
  }

  /** Records what the follower has received from the leader of this term. */
  void answered(RaftPeerId follower, long inTerm, AppendEntriesReplyProto reply) {
    if (reply.getResult() != AppendResult.SUCCESS || reply.getIsHearbeat()) {
      return;
    }
    lock.lock();
    try {
      if (inTerm != term) {
        acknowledged.clear();
        term = inTerm;
      }
      acknowledged.merge(follower, reply.getMatchIndex(), Math::max);
      news.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * The request as the receiving peer handles it. A peer that is being brought up to date votes
   * only after it is told that it is up to date, which Ratis does after the entry that needs its
   * vote.
   */
  static AppendEntriesRequestProto toVoter(RaftPeerId self, AppendEntriesRequestProto request) {
    boolean isNamed =
        request.getInitializing()
            && request.getEntriesList().stream()
                .filter(LogEntryProto::hasConfigurationEntry)
                .flatMap(entry -> entry.getConfigurationEntry().getPeersList().stream())
                .anyMatch(peer -> RaftPeerId.valueOf(peer.getId()).equals(self));
    return isNamed ? request.toBuilder().setInitializing(false).build() : request;
  }
}
