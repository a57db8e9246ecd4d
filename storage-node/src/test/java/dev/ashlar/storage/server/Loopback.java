package dev.ashlar.storage.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.Transport;
import dev.ashlar.transport.client.NodeConfig;
import dev.ashlar.transport.client.RemoteNode;
import dev.ashlar.transport.client.RemoteShardStore;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.session.FramePort;
import dev.ashlar.transport.session.RemoteProcess;
import dev.ashlar.transport.tls.ClusterTls;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A server of drives and clients of it, in one process, that counts slabs at the end. */
final class Loopback implements AutoCloseable {
  static final UUID CLUSTER = new UUID(21, 22);
  static final ClusterSecret SECRET =
      new ClusterSecret("only this cluster knows".getBytes(StandardCharsets.UTF_8));
  static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Quick to notice what is gone; no operation runs out of time by chance. */
  static final FrameTimes TIMES =
      new FrameTimes(Duration.ofSeconds(20), Duration.ofMillis(20), Duration.ofSeconds(20));

  static final NodeConfig.Times CLIENT_TIMES =
      new NodeConfig.Times(
          TIMES,
          Duration.ofSeconds(5),
          Duration.ofSeconds(60),
          new RemoteProcess.Backoff(Duration.ofMillis(2), Duration.ofMillis(20)));

  final EventLoops loops;
  final SlabPool serverSlabs;
  final FramePort port;
  final ShardServer server;
  final List<ShardStore> drives;
  private final List<RemoteNode> nodes = new ArrayList<>();
  private final List<SlabPool> clientSlabs = new ArrayList<>();

  /** How the server is reached. */
  record Setup(ShardServerConfig.Limits limits, FrameTimes times, @Nullable ClusterTls tls) {
    static final Setup DEFAULT = new Setup(ShardServerConfig.Limits.DEFAULT, TIMES, null);
  }

  Loopback(SlabPool serverSlabs, ShardStore... drives) throws IOException {
    this(Transport.preferred(), Setup.DEFAULT, serverSlabs, drives);
  }

  Loopback(Transport transport, Setup setup, SlabPool serverSlabs, ShardStore... drives)
      throws IOException {
    this.serverSlabs = serverSlabs;
    this.drives = List.of(drives);
    loops = new EventLoops(transport, 2, "loopback");
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    port = new FramePort(any, setup.tls(), setup.times(), loops);
    server = new ShardServer(config(setup.limits()), port, this.drives, serverSlabs);
  }

  static ShardServerConfig config(ShardServerConfig.Limits limits) {
    return new ShardServerConfig(CLUSTER, SECRET, Duration.ofSeconds(10), limits);
  }

  int port() {
    return port.address().getPort();
  }

  NodeConfig clientConfig() {
    return clientConfig(port(), CLIENT_TIMES, NodeConfig.Limits.DEFAULT, null);
  }

  NodeConfig clientConfig(
      int port, NodeConfig.Times times, NodeConfig.Limits limits, @Nullable ClusterTls tls) {
    List<DriveId> ids = drives.stream().map(ShardStore::drive).toList();
    return new NodeConfig(
        "127.0.0.1", port, Role.GATEWAY, CLUSTER, SECRET, ids, tls, times, limits);
  }

  /** A client that is connected. */
  RemoteNode connect() throws InterruptedException {
    return connect(clientConfig(), new SlabPool());
  }

  RemoteNode connect(NodeConfig config, SlabPool slabs) throws InterruptedException {
    RemoteNode node = start(config, slabs);
    assertTrue(node.awaitConnected(PATIENCE), () -> "not connected: " + node.status().failure());
    return node;
  }

  /** A client that tries to connect. */
  RemoteNode start(NodeConfig config, SlabPool slabs) {
    RemoteNode node = new RemoteNode(config, loops, slabs, new Random(1));
    nodes.add(node);
    clientSlabs.add(slabs);
    return node;
  }

  RemoteShardStore store(RemoteNode node, int drive) {
    RemoteShardStore store = node.store(drives.get(drive).drive().id());
    assertNotNull(store);
    if (store == null) {
      throw new AssertionError("unreachable");
    }
    return store;
  }

  /** Waits for what other threads bring about. */
  static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - deadline < 0, "still not: " + what);
      Thread.sleep(1);
    }
  }

  @Override
  public void close() {
    nodes.forEach(RemoteNode::close);
    port.close();
    server.close();
    loops.close();
    for (SlabPool slabs : clientSlabs) {
      assertEquals(0, slabs.lentBytes(), "a client's slab was not given back");
    }
    assertEquals(0, serverSlabs.lentBytes(), "a slab of the server was not given back");
    assertEquals(0, server.reservedBytes(), "the server's budget does not add up");
  }
}
