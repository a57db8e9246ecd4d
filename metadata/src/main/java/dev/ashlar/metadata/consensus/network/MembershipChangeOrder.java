package dev.ashlar.metadata.consensus.network;

import java.io.InterruptedIOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.jspecify.annotations.Nullable;

/**
 * The order in which peers learn of a membership change, so that the remaining peers can elect a
 * leader at any time. From the entry that begins a change, Ratis needs a majority of both the old
 * and the new members. But it lets an added peer vote only after it has received that entry, and a
 * removed peer that misses its leader shuts down instead of voting. So an added peer learns of the
 * change first; a removed peer never does, as long as there is a majority without it. This concerns
 * the leader that begins the change: a leader that finds the entry in its log was elected by
 * majorities of both.
 *
 * <p>Ratis also refuses a vote for a candidate that is not in the voter's own configuration. An old
 * member that has not received the change refuses an added peer, and an added peer refuses
 * candidates with shorter logs. So an added peer receives entries after the change only when so
 * many old members have them that each majority of the old members contains one of these. That
 * member can be elected by all.
 */
final class MembershipChangeOrder {
  private final RaftPeerId self;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition news = lock.newCondition();
  private final Map<RaftPeerId, Long> acknowledged = new HashMap<>();
  private long term;

  /** The latest change of this term, until all old members have received it. */
  private @Nullable Addition addition;

  /**
   * Peers are being added.
   *
   * @param index of the entry that begins the change
   * @param others the old members without the leader
   * @param enough so many of them have an entry before an added peer gets it
   */
  private record Addition(long index, Set<RaftPeerId> added, Set<RaftPeerId> others, int enough) {
    static @Nullable Addition of(RaftMembers members, RaftPeerId leader) {
      Set<RaftPeerId> added = new HashSet<>(members.peers().keySet());
      added.removeAll(members.before().keySet());
      if (!members.isChanging() || added.isEmpty()) {
        return null;
      }
      Set<RaftPeerId> others = new HashSet<>(members.before().keySet());
      others.remove(leader);
      return new Addition(members.index(), added, others, (members.before().size() - 1) / 2);
    }
  }

  /**
   * @param self the sending peer
   */
  MembershipChangeOrder(RaftPeerId self) {
    this.self = self;
  }

  /**
   * Waits until this follower may receive the first entry of the request.
   *
   * @param members according to the sending leader
   * @return the request with the entries that it may receive now
   */
  AppendEntriesRequestProto awaitTurn(
      RaftPeerId follower, AppendEntriesRequestProto request, RaftMembers members)
      throws InterruptedIOException {
    long inTerm = request.getLeaderTerm();
    long first = request.getEntries(0).getIndex();
    try {
      lock.lockInterruptibly();
      try {
        begin(inTerm, members);
        // Ratis interrupts the wait when the change is over or this peer is no longer the leader.
        while (!isItsTurn(follower, request, members) || receivesUpTo(follower, inTerm) < first) {
          news.await();
        }
        return upTo(receivesUpTo(follower, inTerm), request);
      } finally {
        lock.unlock();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException(
          "interrupted while other peers were told of a membership change");
    }
  }

  private void begin(long inTerm, RaftMembers members) {
    enter(inTerm);
    Addition begun = Addition.of(members, self);
    if (inTerm == term && begun != null) {
      addition = begun;
    }
  }

  private void enter(long inTerm) {
    if (inTerm > term) {
      acknowledged.clear();
      addition = null;
      term = inTerm;
    }
  }

  /** Whether the follower may learn of the change that this request begins, if it begins one. */
  private boolean isItsTurn(
      RaftPeerId follower, AppendEntriesRequestProto request, RaftMembers members) {
    if (!members.isChanging() || !begins(request, members.index())) {
      return true;
    }
    if (isWithout(follower, members) || request.getLeaderTerm() != term) {
      return false;
    }
    Addition now = addition;
    return now == null
        || now.added().contains(follower)
        || now.added().stream().allMatch(peer -> has(peer, now.index()));
  }

  /** The index of the last entry that this follower may receive now. */
  private long receivesUpTo(RaftPeerId follower, long inTerm) {
    Addition now = addition;
    if (now == null || inTerm != term || !now.added().contains(follower)) {
      return Long.MAX_VALUE;
    }
    if (now.enough() == 0 || now.others().stream().allMatch(peer -> has(peer, now.index()))) {
      return Long.MAX_VALUE;
    }
    long[] others = now.others().stream().mapToLong(this::acknowledged).sorted().toArray();
    return Math.max(now.index(), others[others.length - now.enough()]);
  }

  private boolean has(RaftPeerId peer, long index) {
    return acknowledged(peer) >= index;
  }

  private long acknowledged(RaftPeerId peer) {
    return acknowledged.getOrDefault(peer, -1L);
  }

  private static AppendEntriesRequestProto upTo(long last, AppendEntriesRequestProto request) {
    List<LogEntryProto> entries = request.getEntriesList();
    if (entries.getLast().getIndex() <= last) {
      return request;
    }
    return request.toBuilder()
        .clearEntries()
        .addAllEntries(entries.stream().filter(entry -> entry.getIndex() <= last).toList())
        .build();
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

  /** Records what the follower has received from the leader of this term. */
  void answered(RaftPeerId follower, long inTerm, AppendEntriesReplyProto reply) {
    if (reply.getResult() != AppendResult.SUCCESS || reply.getIsHearbeat()) {
      return;
    }
    lock.lock();
    try {
      enter(inTerm);
      if (inTerm == term) {
        acknowledged.merge(follower, reply.getMatchIndex(), Math::max);
        news.signalAll();
      }
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
