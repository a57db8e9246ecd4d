package dev.ashlar.bench.engine;

import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.storage.server.ShardServer;
import dev.ashlar.storage.server.ShardServerConfig;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.Transport;
import dev.ashlar.transport.client.NodeConfig;
import dev.ashlar.transport.client.RemoteNode;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.tls.ClusterTls;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Storage nodes with a drive each, which a gateway reaches by TCP as in a cluster; all of them in
 * this process, and at loopback addresses that the system chooses.
 */
final class LoopbackNodes implements AutoCloseable {
  private static final Duration CONNECT_MAX = Duration.ofSeconds(10);
  private static final int SECRET_BYTES = 32;

  private final UUID cluster;
  private final SlabPool slabs;
  private final ClusterSecret secret = newSecret();
  private final Deque<Runnable> closing = new ArrayDeque<>();
  private final @Nullable ClusterTls tls;
  private final EventLoops servers;
  private final EventLoops clients;

  /**
   * @param slabs for what nodes and gateway receive
   */
  LoopbackNodes(UUID cluster, SlabPool slabs, Network network) {
    this.cluster = cluster;
    this.slabs = slabs;
    tls = network.tls();
    servers = loops("bench-node");
    clients = loops("bench-gateway");
  }

  private static ClusterSecret newSecret() {
    byte[] secret = new byte[SECRET_BYTES];
    new SecureRandom().nextBytes(secret);
    return new ClusterSecret(secret);
  }

  /** For each side half of what a server of a cluster has, which is node and gateway at once. */
  private static EventLoops loops(String name) {
    int threads = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    return new EventLoops(Transport.preferred(), threads, name);
  }

  /**
   * The drive as a gateway sees it that is connected with its node.
   *
   * @param drive stays the caller's
   */
  ShardStore serve(ShardStore drive) throws IOException, InterruptedException {
    ShardServer server =
        new ShardServer(
            new ShardServerConfig(
                new InetSocketAddress(Network.ADDRESS, 0),
                cluster,
                secret,
                tls,
                FrameTimes.DEFAULT,
                ShardServerConfig.DEFAULT_DRAIN,
                ShardServerConfig.Limits.DEFAULT),
            servers,
            List.of(drive),
            slabs);
    closing.push(server::close);
    RemoteNode node =
        new RemoteNode(
            new NodeConfig(
                Network.ADDRESS.getHostAddress(),
                server.address().getPort(),
                Role.GATEWAY,
                cluster,
                secret,
                List.of(drive.drive()),
                tls,
                NodeConfig.Times.DEFAULT,
                NodeConfig.Limits.DEFAULT),
            clients,
            slabs,
            new SecureRandom());
    closing.push(node::close);
    if (!node.awaitConnected(CONNECT_MAX)) {
      throw new IOException("no connection with a node", node.status().failure());
    }
    return Objects.requireNonNull(node.store(drive.drive().id()));
  }

  /** Clients first. */
  @Override
  public void close() {
    try (servers;
        clients) {
      while (!closing.isEmpty()) {
        closing.pop().run();
      }
    }
  }
}
