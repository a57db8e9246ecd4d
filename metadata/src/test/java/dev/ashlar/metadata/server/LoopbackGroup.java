package dev.ashlar.metadata.server;

import static java.util.Objects.requireNonNull;

import dev.ashlar.metadata.consensus.CheckpointLimits;
import dev.ashlar.metadata.consensus.ElectionTimes;
import dev.ashlar.metadata.consensus.QuorumPeer;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.FramePort;
import dev.ashlar.transport.FrameTimes;
import dev.ashlar.transport.Transport;
import dev.ashlar.transport.call.CallClientConfig;
import dev.ashlar.transport.metadata.RemoteMetadata;
import dev.ashlar.transport.metadata.RemoteMetadataConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Peers of one group over sockets, as if each were alone in its process: their own event loops and
 * ports, and a link from each to each other.
 */
final class LoopbackGroup implements AutoCloseable {
  static final ClusterSecret SECRET =
      new ClusterSecret("a secret of a test".getBytes(StandardCharsets.UTF_8));
  static final ElectionTimes ELECTIONS =
      new ElectionTimes(Duration.ofMillis(500), Duration.ofMillis(1000));

  final UUID cluster = UUID.randomUUID();
  private final Path root;
  private final int size;
  private final CheckpointLimits checkpoints;
  private final ElectionTimes elections;
  private final TestResources resources = new TestResources();
  private final EventLoops loops = new EventLoops(Transport.preferred(), 2, "loopback");
  private final List<@Nullable Node> processes = new ArrayList<>();
  private final int[] ports;
  private final Link[][] links;

  /** What would be a process. */
  private record Node(FramePort port, MetadataPeer peer) {}

  LoopbackGroup(Path root, int size) throws IOException {
    this(root, size, CheckpointLimits.DEFAULT, ELECTIONS);
  }

  LoopbackGroup(Path root, int size, CheckpointLimits checkpoints, ElectionTimes elections)
      throws IOException {
    this.root = root;
    this.size = size;
    this.elections = elections;
    this.checkpoints = checkpoints;
    ports = new int[size];
    links = new Link[size][size];
    for (int from = 0; from < size; from++) {
      processes.add(null);
      for (int to = 0; to < size; to++) {
        int there = to;
        links[from][to] = new Link(() -> ports[there]);
      }
    }
  }

  LoopbackGroup startAll() throws IOException {
    for (int place = 0; place < size; place++) {
      start(place);
    }
    return this;
  }

  void start(int place) throws IOException {
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), ports[place]);
    FramePort port = new FramePort(address, null, FrameTimes.DEFAULT, loops);
    ports[place] = port.address().getPort();
    List<Endpoint> peers =
        IntStream.range(0, size)
            .mapToObj(to -> new Endpoint("127.0.0.1", links[place][to].port()))
            .toList();
    QuorumPeer.Config config =
        new QuorumPeer.Config(
            cluster,
            folder(place),
            place,
            peers,
            new CallClientConfig(Role.METADATA, cluster, SECRET, null),
            elections,
            resources.get(),
            new SimpleMeterRegistry(),
            checkpoints,
            Clock.systemUTC());
    processes.set(place, new Node(port, MetadataPeer.open(config, port, loops)));
  }

  Path folder(int place) {
    return root.resolve("peer" + place);
  }

  /** What it was doing stays undone, and nobody hears of it. */
  void kill(int place) {
    Node killed = requireNonNull(processes.set(place, null));
    killed.port().close();
    for (int other = 0; other < size; other++) {
      links[place][other].end();
      links[other][place].end();
    }
    killed.peer().close();
  }

  MetadataPeer peer(int place) {
    return requireNonNull(processes.get(place)).peer();
  }

  /** Its disk was replaced by an empty one. */
  void wipe(int place) throws IOException {
    FiveFolders.delete(folder(place));
  }

  /** Waits until the peer takes part as a full one and has applied so much. */
  void awaitMember(int place, long appliedIndex) throws InterruptedException {
    while (true) {
      QuorumPeer.Status status = peer(place).status();
      if (status.isRunning()
          && status.standing().equals("MEMBER")
          && status.appliedIndex() >= appliedIndex) {
        return;
      }
      Thread.sleep(10);
    }
  }

  /** All ways between this peer and the others. */
  void isolate(int place) {
    for (int other = 0; other < size; other++) {
      links[place][other].cut();
      links[other][place].cut();
    }
  }

  void heal() {
    for (Link[] from : links) {
      for (Link link : from) {
        link.heal();
      }
    }
  }

  int awaitLeader() throws InterruptedException {
    return awaitLeader(place -> true);
  }

  /** Which of these peers leads, as soon as one does. */
  int awaitLeader(IntPredicate which) throws InterruptedException {
    while (true) {
      for (int place = 0; place < size; place++) {
        Node process = processes.get(place);
        if (process != null && which.test(place) && process.peer().status().isLeader()) {
          return place;
        }
      }
      Thread.sleep(10);
    }
  }

  Endpoint endpoint(int place) {
    return new Endpoint("127.0.0.1", ports[place]);
  }

  List<Endpoint> endpoints() {
    return IntStream.range(0, size).mapToObj(this::endpoint).toList();
  }

  RemoteMetadata client() throws Exception {
    return client(endpoints(), Duration.ofSeconds(60));
  }

  RemoteMetadata client(List<Endpoint> peers, Duration timeout) throws Exception {
    CallClientConfig calls = new CallClientConfig(Role.GATEWAY, cluster, SECRET, null);
    return RemoteMetadata.open(new RemoteMetadataConfig(peers, calls, timeout), loops);
  }

  EventLoops loops() {
    return loops;
  }

  static void installDrives(MetadataClient client) throws Exception {
    client.submit(
        Command.newBuilder()
            .setPutDrives(
                MemoryMetadata.drives(
                    new Profile(4, 2, 16384), MemoryMetadata.sequentialIds(8), 16)));
  }

  @Override
  public void close() throws IOException {
    List<Thread> closers = new ArrayList<>();
    for (int place = 0; place < size; place++) {
      int closed = place;
      if (processes.get(place) != null) {
        closers.add(Thread.ofPlatform().start(() -> kill(closed)));
      }
    }
    for (Thread closer : closers) {
      try {
        closer.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    for (Link[] from : links) {
      for (Link link : from) {
        link.close();
      }
    }
    loops.close();
    resources.close();
  }
}
