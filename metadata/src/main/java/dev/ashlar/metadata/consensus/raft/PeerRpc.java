package dev.ashlar.metadata.consensus.raft;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Collection;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.ServerFactory;

/** Ratis' transport between metadata peers: passes the calls of a peer to its network. */
public final class PeerRpc implements RpcType {
  private static final String NETWORK = "ashlar.peer-network";

  /** Created by Ratis by name. */
  public PeerRpc() {}

  /** The parameters with which Ratis uses this network. */
  static Parameters parameters(Peer.Network network) {
    Parameters parameters = new Parameters();
    parameters.put(NETWORK, network, Peer.Network.class);
    return parameters;
  }

  @Override
  public String name() {
    return PeerRpc.class.getName();
  }

  @Override
  public ServerFactory newFactory(Parameters parameters) {
    Peer.Network network = parameters.getNonNull(NETWORK, Peer.Network.class);
    return new ServerFactory() {
      @Override
      public RaftServerRpc newRaftServerRpc(RaftServer server) {
        return new Endpoint(server, network);
      }

      @Override
      public RpcType getRpcType() {
        return PeerRpc.this;
      }
    };
  }

  private final class Endpoint implements RaftServerRpc {
    private final RaftServer server;
    private final Peer.Network network;

    Endpoint(RaftServer server, Peer.Network network) {
      this.server = server;
      this.network = network;
    }

    @Override
    public void start() throws IOException {
      network.join(server);
    }

    @Override
    public void close() {
      network.leave(server);
    }

    @Override
    public RpcType getRpcType() {
      return PeerRpc.this;
    }

    @Override
    public InetSocketAddress getInetSocketAddress() {
      return InetSocketAddress.createUnresolved("peer", 0);
    }

    @Override
    public void addRaftPeers(Collection<RaftPeer> peers) {
      network.add(peers);
    }

    @Override
    public void handleException(RaftPeerId peer, Exception e, boolean reconnect) {
      // The network recovers by itself.
    }

    @Override
    public RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws IOException {
      RaftSettings.allowSlowVotes(server.getProperties());
      return network.requestVote(request);
    }

    @Override
    public AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request)
        throws IOException {
      return network.appendEntries(request);
    }

    @Override
    public InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request)
        throws IOException {
      return network.installSnapshot(request);
    }

    @Override
    public StartLeaderElectionReplyProto startLeaderElection(
        StartLeaderElectionRequestProto request) throws IOException {
      return network.startLeaderElection(request);
    }
  }
}
