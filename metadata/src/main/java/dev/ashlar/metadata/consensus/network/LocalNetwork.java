package dev.ashlar.metadata.consensus.network;

import dev.ashlar.metadata.consensus.raft.Peer;
import dev.ashlar.metadata.consensus.raft.PeerDurability;
import dev.ashlar.metadata.consensus.raft.TableStateMachine;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;

/**
 * Carries Raft calls between the peers of one process, and restricts who takes part in elections. A
 * call is a method call on the sender's thread, without a TCP port, serialisation or another
 * thread.
 */
public final class LocalNetwork implements Peer.Network {
  private static final long CHECK_MS = 100;
  private static final long ABSENT_CHECK_MS = 200;

  /**
   * How many committed entries a follower may not know of yet: each time it learns of more, it
   * wakes its applying thread. A heartbeat brings it up to date.
   */
  private static final long COMMIT_LAG_MAX = 16;

  private final ConcurrentMap<RaftPeerId, Member> members = new ConcurrentHashMap<>();

  private final ConcurrentMap<RaftPeerId, ReentrantLock> appendOrders = new ConcurrentHashMap<>();

  private final ConcurrentMap<RaftPeerId, PeerDurability> durabilities = new ConcurrentHashMap<>();

  /**
   * Peers whose folder was empty. They have lost entries that they acknowledged, so their votes
   * could elect a leader without these. They have no vote until they hold everything committed.
   */
  private final Set<RaftPeerId> forgetful = ConcurrentHashMap.newKeySet();

  /** Peers that do not ask for votes, but give theirs. */
  private final Set<RaftPeerId> noCandidates = ConcurrentHashMap.newKeySet();

  /** The commit index last sent on each link. */
  private final ConcurrentMap<Link, Long> toldCommitted = new ConcurrentHashMap<>();

  private record Link(ByteString leader, ByteString follower) {}

  private record Member(RaftServer server, RaftServer.Division division) {}

  @Override
  public void set(RaftPeerId peer, PeerDurability durability) {
    durabilities.put(peer, durability);
  }

  private PeerDurability durability(RaftPeerId peer) {
    return Objects.requireNonNull(durabilities.get(peer), "no such peer");
  }

  @Override
  public void join(RaftServer server) throws IOException {
    RaftServer.Division division = server.getDivision(server.getGroupIds().iterator().next());
    members.put(server.getId(), new Member(server, division));
  }

  @Override
  public void leave(RaftServer server) {
    members.remove(server.getId());
  }

  @Override
  public boolean canAnotherLead(RaftPeerId peer, long committed) {
    Member own = members.get(peer);
    List<Member> others =
        members.entrySet().stream()
            .filter(member -> !member.getKey().equals(peer) && !isForgetful(member.getKey()))
            .map(Map.Entry::getValue)
            .filter(member -> member.division().getInfo().isAlive())
            .toList();
    return own != null
        && others.size() + 1 > own.division().getRaftConf().getAllPeers().size() / 2
        && others.stream().anyMatch(member -> isWhole(member, committed));
  }

  private static boolean isWhole(Member member, long committed) {
    return member.division().getStateMachine() instanceof TableStateMachine machine
        && machine.tables().isWhole()
        && member.division().getRaftLog().getLastCommittedIndex() >= committed;
  }

  @Override
  public void setCandidate(RaftPeerId peer, boolean isCandidate) {
    if (isCandidate) {
      noCandidates.remove(peer);
    } else {
      noCandidates.add(peer);
    }
  }

  private boolean isCandidate(RaftPeerId id) {
    return !noCandidates.contains(id);
  }

  /** Local peers register themselves. */
  @Override
  public void add(Collection<RaftPeer> peers) {}

  /** Empty if the peer was never started or has stopped. */
  private Optional<RaftServer> find(RaftPeerId id) {
    Member member = members.get(id);
    return member != null && member.division().getInfo().isAlive()
        ? Optional.of(member.server())
        : Optional.empty();
  }

  /** Held while entries are passed to this peer. */
  private ReentrantLock appendOrder(RaftPeerId id) {
    return appendOrders.computeIfAbsent(id, peer -> new ReentrantLock());
  }

  public void setForgetful(RaftPeerId id) {
    forgetful.add(id);
  }

  public void setMember(RaftPeerId id) {
    forgetful.remove(id);
  }

  public boolean isForgetful(RaftPeerId id) {
    return forgetful.contains(id);
  }

  private void checkMayVote(RaftPeerId id) throws IOException {
    if (isForgetful(id)) {
      throw new IOException("peer " + id + " is being rebuilt and has no vote");
    }
  }

  // ---- Calls ----

  private RaftServer receiver(RaftRpcRequestProto request) throws IOException {
    RaftPeerId id = RaftPeerId.valueOf(request.getReplyId());
    return find(id).orElseThrow(() -> new IOException("peer " + id + " is not running"));
  }

  @Override
  public RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws IOException {
    RaftServer voter = receiver(request.getServerRequest());
    RaftPeerId candidate = RaftPeerId.valueOf(request.getServerRequest().getRequestorId());
    if (!isCandidate(candidate)) {
      throw new IOException("this peer's tables cannot be rebuilt, and another peer can lead");
    }
    checkMayVote(candidate);
    checkMayVote(voter.getId());
    durability(candidate).syncVote(request);
    RequestVoteReplyProto reply = voter.requestVote(request);
    durability(voter.getId()).syncVote(request, reply);
    return reply;
  }

  /**
   * Called if an older build gave the first peer a higher priority. A refusal must not throw: Ratis
   * 3.3 never notices the end of a call that fails at once, and the leader then refuses all
   * commands forever ({@code TransferLeadership.start} leaves {@code pending} set).
   */
  @Override
  public StartLeaderElectionReplyProto startLeaderElection(StartLeaderElectionRequestProto request)
      throws IOException {
    RaftRpcRequestProto asked = request.getServerRequest();
    RaftPeerId candidate = RaftPeerId.valueOf(asked.getReplyId());
    Optional<RaftServer> running =
        isForgetful(candidate) || !isCandidate(candidate) ? Optional.empty() : find(candidate);
    return running.isPresent() ? running.get().startLeaderElection(request) : refusal(asked);
  }

  private static StartLeaderElectionReplyProto refusal(RaftRpcRequestProto asked) {
    return StartLeaderElectionReplyProto.newBuilder()
        .setServerReply(
            RaftRpcReplyProto.newBuilder()
                .setRequestorId(asked.getRequestorId())
                .setReplyId(asked.getReplyId())
                .setRaftGroupId(asked.getRaftGroupId())
                .setCallId(asked.getCallId())
                .setSuccess(false))
        .build();
  }

  @Override
  public AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request)
      throws IOException {
    try {
      RaftServer follower = awaitRunning(request.getServerRequest());
      var reply = append(follower, withLaggingCommit(request));
      durability(follower.getId()).syncTerm(request.getLeaderTerm());
      return await(reply, request.getServerRequest());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException(
          "append to " + request.getServerRequest().getReplyId().toStringUtf8());
    }
  }

  /** Waits, because a peer may be left out for days and each failure would be logged. */
  private RaftServer awaitRunning(RaftRpcRequestProto request) throws InterruptedException {
    RaftPeerId id = RaftPeerId.valueOf(request.getReplyId());
    while (true) {
      Optional<RaftServer> follower = find(id);
      if (follower.isPresent()) {
        return follower.get();
      }
      Thread.sleep(ABSENT_CHECK_MS);
    }
  }

  private AppendEntriesReplyProto await(
      CompletableFuture<AppendEntriesReplyProto> reply, RaftRpcRequestProto request)
      throws IOException, InterruptedException {
    while (true) {
      try {
        return reply.get(CHECK_MS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        receiver(request); // a closed peer never replies
      } catch (ExecutionException e) {
        throw new IOException("append to " + request.getReplyId().toStringUtf8(), e.getCause());
      }
    }
  }

  /**
   * Serialised per follower: no entries of another leader may come between the check of the
   * sender's term and the queueing of the entries.
   */
  private CompletableFuture<AppendEntriesReplyProto> append(
      RaftServer follower, AppendEntriesRequestProto request) throws IOException {
    ReentrantLock order = appendOrder(follower.getId());
    order.lock();
    try {
      return follower.appendEntriesAsync(request);
    } finally {
      order.unlock();
    }
  }

  private AppendEntriesRequestProto withLaggingCommit(AppendEntriesRequestProto request) {
    long committed = request.getLeaderCommit();
    RaftRpcRequestProto call = request.getServerRequest();
    Link link = new Link(call.getRequestorId(), call.getReplyId());
    long told = toldCommitted.getOrDefault(link, -1L);
    if (request.getEntriesCount() == 0 || committed - told >= COMMIT_LAG_MAX || committed < told) {
      toldCommitted.put(link, committed);
      return request;
    }
    return request.toBuilder().setLeaderCommit(told).build();
  }

  @Override
  public InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request)
      throws IOException {
    RaftServer follower = receiver(request.getServerRequest());
    PeerDurability durability = durability(follower.getId());
    durability.beginInstall(request);
    InstallSnapshotReplyProto reply = follower.installSnapshot(request);
    durability.syncTerm(request.getLeaderTerm());
    if (request.getSnapshotChunk().getDone()) {
      durability.syncInstalled();
    }
    return reply;
  }
}
