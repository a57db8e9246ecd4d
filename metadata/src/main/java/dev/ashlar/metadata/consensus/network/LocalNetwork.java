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
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.jspecify.annotations.Nullable;

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

  private record Running(RaftServer server, RaftServer.Division division) {}

  private static final class Member {
    /** Null before it is started and after it is closed. */
    private volatile @Nullable Running running;

    private volatile @Nullable PeerDurability durability;

    /**
     * Whether its folder was empty. It has lost entries that it acknowledged, so its vote could
     * elect a leader without these. It has no vote until it holds everything committed.
     */
    private volatile boolean isForgetful;

    /** Whether it may ask for votes; it gives its own in any case. */
    private volatile boolean isCandidate = true;

    /** Held while entries are passed to it. */
    private final ReentrantLock appendOrder = new ReentrantLock();

    /** The commit index last sent to it, by leader. */
    private final ConcurrentMap<ByteString, Long> toldCommitted = new ConcurrentHashMap<>();

    /** Empty if it was never started or has stopped. */
    Optional<Running> running() {
      return Optional.ofNullable(running).filter(now -> now.division().getInfo().isAlive());
    }

    PeerDurability durability() {
      return Objects.requireNonNull(durability, "no such peer");
    }
  }

  private Member member(RaftPeerId id) {
    return members.computeIfAbsent(id, peer -> new Member());
  }

  @Override
  public void set(RaftPeerId peer, PeerDurability durability) {
    member(peer).durability = durability;
  }

  @Override
  public void join(RaftServer server) throws IOException {
    RaftServer.Division division = server.getDivision(server.getGroupIds().iterator().next());
    member(server.getId()).running = new Running(server, division);
  }

  @Override
  public void leave(RaftServer server) {
    member(server.getId()).running = null;
  }

  @Override
  public boolean canAnotherLead(RaftPeerId peer, long committed) {
    Running own = member(peer).running;
    List<Running> others =
        members.entrySet().stream()
            .filter(member -> !member.getKey().equals(peer) && !member.getValue().isForgetful)
            .flatMap(member -> member.getValue().running().stream())
            .toList();
    return own != null
        && others.size() + 1 > own.division().getRaftConf().getAllPeers().size() / 2
        && others.stream().anyMatch(other -> isWhole(other, committed));
  }

  private static boolean isWhole(Running peer, long committed) {
    return peer.division().getStateMachine() instanceof TableStateMachine machine
        && machine.tables().isWhole()
        && peer.division().getRaftLog().getLastCommittedIndex() >= committed;
  }

  @Override
  public void setCandidate(RaftPeerId peer, boolean isCandidate) {
    member(peer).isCandidate = isCandidate;
  }

  /** Local peers register themselves. */
  @Override
  public void add(Collection<RaftPeer> peers) {}

  public void setForgetful(RaftPeerId id) {
    member(id).isForgetful = true;
  }

  public void setMember(RaftPeerId id) {
    member(id).isForgetful = false;
  }

  public boolean isForgetful(RaftPeerId id) {
    return member(id).isForgetful;
  }

  private void checkMayVote(RaftPeerId id) throws IOException {
    if (isForgetful(id)) {
      throw new IOException("peer " + id + " is being rebuilt and has no vote");
    }
  }

  // ---- Calls ----

  private RaftServer receiver(RaftRpcRequestProto request) throws IOException {
    RaftPeerId id = RaftPeerId.valueOf(request.getReplyId());
    return member(id)
        .running()
        .orElseThrow(() -> new IOException("peer " + id + " is not running"))
        .server();
  }

  @Override
  public RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws IOException {
    RaftServer voter = receiver(request.getServerRequest());
    RaftPeerId candidate = RaftPeerId.valueOf(request.getServerRequest().getRequestorId());
    if (!member(candidate).isCandidate) {
      throw new IOException("this peer's tables cannot be rebuilt, and another peer can lead");
    }
    checkMayVote(candidate);
    checkMayVote(voter.getId());
    member(candidate).durability().syncVote(request);
    RequestVoteReplyProto reply = voter.requestVote(request);
    member(voter.getId()).durability().syncVote(request, reply);
    return VoteGuard.counted(reply);
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
    Member candidate = member(RaftPeerId.valueOf(asked.getReplyId()));
    Optional<Running> running =
        candidate.isForgetful || !candidate.isCandidate ? Optional.empty() : candidate.running();
    return running.isPresent()
        ? running.get().server().startLeaderElection(request)
        : HandOverCalls.refusal(asked);
  }

  @Override
  public AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request)
      throws IOException {
    try {
      RaftServer follower = awaitRunning(request.getServerRequest());
      PeerDurability durability = member(follower.getId()).durability();
      AppendEntriesRequestProto sent = withLaggingCommit(request);
      var reply = durability.synced(sent, append(follower, sent));
      durability.syncTerm(request.getLeaderTerm());
      return await(reply, request.getServerRequest());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException(
          "append to " + request.getServerRequest().getReplyId().toStringUtf8());
    }
  }

  /** Waits, because a peer may be left out for days and each failure would be logged. */
  private RaftServer awaitRunning(RaftRpcRequestProto request) throws InterruptedException {
    Member follower = member(RaftPeerId.valueOf(request.getReplyId()));
    Optional<Running> running = follower.running();
    while (running.isEmpty()) {
      Thread.sleep(ABSENT_CHECK_MS);
      running = follower.running();
    }
    return running.get().server();
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
    ReentrantLock order = member(follower.getId()).appendOrder;
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
    Map<ByteString, Long> toldCommitted =
        member(RaftPeerId.valueOf(call.getReplyId())).toldCommitted;
    long told = toldCommitted.getOrDefault(call.getRequestorId(), -1L);
    if (request.getEntriesCount() == 0 || committed - told >= COMMIT_LAG_MAX || committed < told) {
      toldCommitted.put(call.getRequestorId(), committed);
      return request;
    }
    return request.toBuilder().setLeaderCommit(told).build();
  }

  @Override
  public InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request)
      throws IOException {
    RaftServer follower = receiver(request.getServerRequest());
    return member(follower.getId()).durability().install(follower, request);
  }
}
