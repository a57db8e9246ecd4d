package dev.ashlar.metadata.server;

import dev.ashlar.metadata.consensus.QuorumPeer;
import dev.ashlar.metadata.consensus.network.PeerConfig;
import dev.ashlar.metadata.consensus.network.PeerConnector;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.call.CallClient;
import dev.ashlar.transport.call.CallServer;
import dev.ashlar.transport.call.CallServerConfig;
import dev.ashlar.transport.session.FramePort;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;

/**
 * The metadata role of a process whose Raft group spans several processes: one peer, and the
 * service for clients and other peers. This process uses the group as a client as well.
 */
public final class MetadataPeer implements AutoCloseable {
  private final QuorumPeer peer;
  private final CallServer calls;

  private MetadataPeer(QuorumPeer peer, CallServer calls) {
    this.peer = peer;
    this.calls = calls;
  }

  /**
   * Returns at once; the peer takes part when it reaches other peers.
   *
   * @param port the port of its address; the caller closes it, before this object
   * @param loops closed by the caller
   * @throws IOException when the folder cannot be used; the message gives the reason
   */
  public static MetadataPeer open(PeerConfig config, FramePort port, EventLoops loops)
      throws IOException {
    SecureRandom random = new SecureRandom();
    return open(config, port, peer -> new CallClient(peer, config.calls(), loops, random));
  }

  /**
   * Likewise.
   *
   * @param others creates clients for other peers
   */
  static MetadataPeer open(PeerConfig config, FramePort port, PeerConnector others)
      throws IOException {
    QuorumPeer peer = QuorumPeer.open(config, others);
    CallServerConfig served =
        new CallServerConfig(
            config.clusterId(), config.calls().secret(), CallServerConfig.Limits.DEFAULT);
    return new MetadataPeer(peer, new CallServer(served, port, new MetadataService(peer)));
  }

  public QuorumPeer.Status status() {
    return peer.status();
  }

  /**
   * Takes a checkpoint now, so that the next start has no log to replay.
   *
   * @param wait the longest time to wait
   */
  public void checkpoint(Duration wait) {
    peer.checkpoint(wait);
  }

  @Override
  public void close() {
    calls.close();
    peer.close();
  }
}
