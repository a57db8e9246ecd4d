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
 * In which order peers hear that the group changes, so that the others can elect a leader whenever
 * theirs is lost. From the entry on with which a change begins, Ratis needs a majority before and
 * after; but it lets who comes vote only once that has been told so, and who leaves end itself
 * instead of voting when it misses its leader. So whoever comes hears of it first, and whoever
 * leaves never, as long as a majority is there without it.
 *
 * <p>That goes for the leader that begins the change. One that finds the entry in its log has had
 * the votes of both.
 */
final class MembershipChangeOrder {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition news = lock.newCondition();
  private final Map<RaftPeerId, Long> acknowledged = new HashMap<>();
  private long term;

  /**
   * Returns when this follower may be sent this.
   *
   * @param members as the leader knows them that sends it
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
        // Ended by Ratis, when the change is over or this peer does not lead any more.
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

  /** Whether it brings members that the leader has only just written, and does not go by yet. */
  static boolean isAhead(AppendEntriesRequestProto request, RaftMembers members) {
    return request.getEntriesList().stream()
        .anyMatch(entry -> entry.hasConfigurationEntry() && entry.getIndex() > members.index());
  }

  /** Whether it brings the entry with this index, of the leader's own term. */
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

  /** Takes note of what the follower has got from the leader of this term. */
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
   * What a peer makes of a request: who is being brought up to date only votes when somebody tells
   * it that it is not any more, and Ratis does so after the entry that needs its vote.
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
