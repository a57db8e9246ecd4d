package dev.ashlar.metadata.consensus.network;

import dev.ashlar.metadata.consensus.raft.PeerEndpoint;
import java.io.IOException;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.ServerFactory;

/** Ratis' transport between peers of different processes, over our own calls. */
public final class NetworkRpc implements RpcType {
  static final String NETWORK = "ashlar.peer-network";

  /** Created by Ratis by name. */
  public NetworkRpc() {}

  @Override
  public String name() {
    return NetworkRpc.class.getName();
  }

  @Override
  public ServerFactory newFactory(Parameters parameters) {
    PeerNetwork network = parameters.getNonNull(NETWORK, PeerNetwork.class);
    return PeerEndpoint.factory(this, server -> new Endpoint(server, network));
  }

  private final class Endpoint extends PeerEndpoint {
    private final PeerNetwork network;

    Endpoint(RaftServer server, PeerNetwork network) {
      super(NetworkRpc.this, server, network);
      this.network = network;
    }

    @Override
    public RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws IOException {
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

    /** Refused: the candidate would be elected while the old leader still has its lease. */
    @Override
    public StartLeaderElectionReplyProto startLeaderElection(
        StartLeaderElectionRequestProto request) throws IOException {
      throw new IOException("leadership is not transferred: all peers have the same priority");
    }
  }
}
