package dev.ashlar.metadata.consensus.network;

import dev.ashlar.metadata.consensus.raft.PeerDurability;
import dev.ashlar.metadata.consensus.raft.PeerEndpoint;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.ratis.conf.Parameters;
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
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.ServerFactory;

/**
 * Ratis' transport between peers of one process: a call is a method call on the sender's thread,
 * without a TCP port, serialisation or another thread.
 */
public final class LocalRpc implements RpcType {
  static final String NETWORK = "ashlar.local-network";
  private static final long CHECK_MS = 100;
  private static final long ABSENT_CHECK_MS = 200;

  /**
   * How many committed entries a follower may not know of yet: each time it learns of more, it
   * wakes its applying thread. A heartbeat brings it up to date.
   */
  static final long COMMIT_LAG_MAX = 16;

  /** Created by Ratis by name. */
  public LocalRpc() {}

  @Override
  public String name() {
    return LocalRpc.class.getName();
  }

  @Override
  public ServerFactory newFactory(Parameters parameters) {
    LocalNetwork network = parameters.getNonNull(NETWORK, LocalNetwork.class);
    return PeerEndpoint.factory(this, server -> new Endpoint(server, network));
  }

  private final class Endpoint extends PeerEndpoint {
    private final RaftServer server;
    private final LocalNetwork network;

    /** The commit index last sent to each follower. */
    private final ConcurrentMap<String, Long> toldCommitted = new ConcurrentHashMap<>();

    Endpoint(RaftServer server, LocalNetwork network) {
      super(LocalRpc.this, server, network);
      this.server = server;
      this.network = network;
    }

    private RaftServer receiver(RaftRpcRequestProto request) throws IOException {
      return network.peer(RaftPeerId.valueOf(request.getReplyId()));
    }

    @Override
    public RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws IOException {
      RaftServer voter = receiver(request.getServerRequest());
      if (!network.isCandidate(server.getId())) {
        throw new IOException("this peer's tables cannot be rebuilt, and another peer can lead");
      }
      network.checkMayVote(server.getId());
      network.checkMayVote(voter.getId());
      network.durability(server.getId()).syncVote(request);
      RequestVoteReplyProto reply = voter.requestVote(request);
      network.durability(voter.getId()).syncVote(request, reply);
      return reply;
    }

    /**
     * Called if an older build gave the first peer a higher priority. A refusal must not throw:
     * Ratis 3.3 never notices the end of a call that fails at once, and the leader then refuses all
     * commands forever ({@code TransferLeadership.start} leaves {@code pending} set).
     */
    @Override
    public StartLeaderElectionReplyProto startLeaderElection(
        StartLeaderElectionRequestProto request) throws IOException {
      RaftRpcRequestProto asked = request.getServerRequest();
      RaftPeerId candidate = RaftPeerId.valueOf(asked.getReplyId());
      Optional<RaftServer> running =
          network.isForgetful(candidate) || !network.isCandidate(candidate)
              ? Optional.empty()
              : network.find(candidate);
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
        network.durability(follower.getId()).syncTerm(request.getLeaderTerm());
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
        Optional<RaftServer> follower = network.find(id);
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
      ReentrantLock order = network.appendOrder(follower.getId());
      order.lock();
      try {
        return follower.appendEntriesAsync(request);
      } finally {
        order.unlock();
      }
    }

    private AppendEntriesRequestProto withLaggingCommit(AppendEntriesRequestProto request) {
      long committed = request.getLeaderCommit();
      String follower = request.getServerRequest().getReplyId().toStringUtf8();
      long told = toldCommitted.getOrDefault(follower, -1L);
      if (request.getEntriesCount() == 0
          || committed - told >= COMMIT_LAG_MAX
          || committed < told) {
        toldCommitted.put(follower, committed);
        return request;
      }
      return request.toBuilder().setLeaderCommit(told).build();
    }

    @Override
    public InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request)
        throws IOException {
      RaftServer follower = receiver(request.getServerRequest());
      PeerDurability durability = network.durability(follower.getId());
      durability.beginInstall(request);
      InstallSnapshotReplyProto reply = follower.installSnapshot(request);
      durability.syncTerm(request.getLeaderTerm());
      if (request.getSnapshotChunk().getDone()) {
        durability.syncInstalled();
      }
      return reply;
    }
  }
}
