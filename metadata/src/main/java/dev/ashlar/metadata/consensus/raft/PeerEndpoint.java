package dev.ashlar.metadata.consensus.raft;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.function.Function;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.ServerFactory;

/** The common part of our Ratis transports: registers the server with its network. */
public abstract class PeerEndpoint implements RaftServerRpc {
  private final RpcType type;
  private final RaftServer server;
  private final Peer.Network network;

  public PeerEndpoint(RpcType type, RaftServer server, Peer.Network network) {
    this.type = type;
    this.server = server;
    this.network = network;
  }

  /** A factory that creates one endpoint per server. */
  public static ServerFactory factory(RpcType type, Function<RaftServer, PeerEndpoint> endpoints) {
    return new ServerFactory() {
      @Override
      public RaftServerRpc newRaftServerRpc(RaftServer server) {
        return endpoints.apply(server);
      }

      @Override
      public RpcType getRpcType() {
        return type;
      }
    };
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
    return type;
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
}
