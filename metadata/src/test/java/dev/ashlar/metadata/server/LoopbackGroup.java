package dev.ashlar.metadata.server;

import static java.util.Objects.requireNonNull;

import dev.ashlar.metadata.consensus.QuorumPeer;
import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.metadata.consensus.network.ElectionTimes;
import dev.ashlar.metadata.consensus.network.PeerConfig;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.Transport;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallClient;
import dev.ashlar.transport.call.CallClientConfig;
import dev.ashlar.transport.call.CallException;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.metadata.RemoteMetadata;
import dev.ashlar.transport.metadata.RemoteMetadataConfig;
import dev.ashlar.transport.session.FramePort;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
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

  private static final int FIRST_PORT = 12_000;
  private static final int PORTS = 20_000;
  private static final int PORT_ATTEMPTS = 100;

  /** Processes of tests that run at the same time begin at different ports. */
  private static final AtomicInteger NEXT_PORT = new AtomicInteger(new Random().nextInt(PORTS));

  final UUID cluster = UUID.randomUUID();
  private final Path root;
  private final int size;
  private final CheckpointLimits checkpoints;
  private final ElectionTimes elections;
  private final TestResources resources = new TestResources();
  private final EventLoops loops = new EventLoops(Transport.preferred(), 2, "loopback");
  private final SecureRandom random = new SecureRandom();
  private final List<@Nullable Node> processes = new CopyOnWriteArrayList<>();
  private final List<FramePort> ports = new CopyOnWriteArrayList<>();
  private final Set<Integer> started = new HashSet<>();
  private final Map<Integer, Integer> builds = new ConcurrentHashMap<>();
  private final Map<Way, Link> links = new ConcurrentHashMap<>();
  private final CallTap tap;

  /** What would be a process. */
  private record Node(FramePort port, MetadataPeer peer) {}

  /** From one place to another. */
  private record Way(int from, int to) {}

  LoopbackGroup(Path root, int size) throws IOException {
    this(root, size, CallTap.NONE);
  }

  /**
   * One whose peers' calls are seen.
   *
   * @param tap sees the calls of its peers to each other
   */
  LoopbackGroup(Path root, int size, CallTap tap) throws IOException {
    this(root, size, CheckpointLimits.DEFAULT, ELECTIONS, tap);
  }

  LoopbackGroup(Path root, int size, CheckpointLimits checkpoints, ElectionTimes elections)
      throws IOException {
    this(root, size, checkpoints, elections, CallTap.NONE);
  }

  LoopbackGroup(
      Path root, int size, CheckpointLimits checkpoints, ElectionTimes elections, CallTap tap)
      throws IOException {
    this.tap = tap;
    this.root = root;
    this.size = size;
    this.elections = elections;
    this.checkpoints = checkpoints;
    for (int place = 0; place < size; place++) {
      addPlace();
    }
  }

  /** Its port is its own from now on. */
  private int addPlace() throws IOException {
    ports.add(listenOnUnused());
    processes.add(null);
    return ports.size() - 1;
  }

  /**
   * Below the range from which the system takes ports of its choice, so that nobody else takes the
   * port of a peer that is down.
   */
  private FramePort listenOnUnused() throws IOException {
    for (int attempt = 1; ; attempt++) {
      int port = FIRST_PORT + Math.floorMod(NEXT_PORT.getAndIncrement(), PORTS);
      try {
        return listen(port);
      } catch (IOException e) {
        if (attempt == PORT_ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private FramePort listen(int port) throws IOException {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    return new FramePort(address, null, FrameTimes.DEFAULT, loops);
  }

  /**
   * From its next start on this peer is of another build.
   *
   * @param knows the greatest version of metadata that it knows
   */
  void setBuild(int place, int knows) {
    builds.put(place, knows);
  }

  private int port(int place) {
    return ports.get(place).address().getPort();
  }

  private Link link(int from, int to) {
    return links.computeIfAbsent(
        new Way(from, to),
        way -> {
          try {
            return new Link(() -> port(way.to()));
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  LoopbackGroup startAll() throws IOException {
    for (int place = 0; place < size; place++) {
      start(place);
    }
    return this;
  }

  /** Starts one that is to be added, whose place is new. */
  int join() throws IOException {
    return join(endpoints());
  }

  /**
   * Likewise.
   *
   * @param known that it is configured with
   */
  int join(List<Endpoint> known) throws IOException {
    int place = addPlace();
    start(place, known);
    return place;
  }

  void start(int place) throws IOException {
    start(place, endpoints());
  }

  /**
   * @param known that it is configured with
   */
  void start(int place, List<Endpoint> known) throws IOException {
    FramePort port = started.add(place) ? ports.get(place) : listen(port(place));
    CallClientConfig calls = new CallClientConfig(Role.METADATA, cluster, SECRET, null);
    PeerConfig config =
        new PeerConfig(
            cluster,
            folder(place),
            endpoint(place),
            known,
            place >= size,
            calls,
            elections,
            resources.get(),
            new SimpleMeterRegistry(),
            checkpoints,
            Clock.systemUTC(),
            builds.getOrDefault(place, MetadataVersion.KNOWN));
    Function<Endpoint, CallClient> linked =
        peer -> new FollowedClient(peer, through(place, peer), calls);
    processes.set(place, new Node(port, MetadataPeer.open(config, port, linked, null)));
  }

  /** Of one peer for another. */
  private final class FollowedClient extends CallClient {
    private final Endpoint to;

    FollowedClient(Endpoint to, Endpoint through, CallClientConfig calls) {
      super(through, calls, loops, random);
      this.to = to;
    }

    @Override
    public CallAnswer call(Method method, byte[] body, Duration timeout)
        throws CallException, InterruptedException {
      return tap.pass(to, method, body, () -> super.call(method, body, timeout));
    }
  }

  private Endpoint through(int from, Endpoint peer) {
    for (int to = 0; to < ports.size(); to++) {
      if (endpoint(to).equals(peer)) {
        return new Endpoint("127.0.0.1", link(from, to).port());
      }
    }
    return peer; // nobody of this group
  }

  Path folder(int place) {
    return root.resolve("peer" + place);
  }

  /** What it was doing stays undone, and nobody hears of it. */
  void kill(int place) {
    Node killed = requireNonNull(processes.set(place, null));
    killed.port().close();
    waysOf(place).forEach(Link::end);
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

  /** As the others see the end of its process, which takes a while to end here. */
  void silence(int place) {
    isolate(place);
    waysOf(place).forEach(Link::end);
  }

  /** All ways between this peer and the others. */
  void isolate(int place) {
    waysOf(place).forEach(Link::cut);
  }

  private List<Link> waysOf(int place) {
    List<Link> ways = new ArrayList<>();
    for (int other = 0; other < ports.size(); other++) {
      ways.add(link(place, other));
      ways.add(link(other, place));
    }
    return ways;
  }

  void heal() {
    links.values().forEach(Link::heal);
  }

  int awaitLeader() throws InterruptedException {
    return awaitLeader(place -> true);
  }

  /** Which of these peers leads, as soon as one does. */
  int awaitLeader(IntPredicate which) throws InterruptedException {
    while (true) {
      for (int place = 0; place < processes.size(); place++) {
        Node process = processes.get(place);
        if (process != null && which.test(place) && process.peer().status().isLeader()) {
          return place;
        }
      }
      Thread.sleep(10);
    }
  }

  Endpoint endpoint(int place) {
    return new Endpoint("127.0.0.1", port(place));
  }

  /** Of those with which it began. */
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

  /** A reader beside the clients. */
  OnePeer only(int place) throws InterruptedException {
    CallClientConfig calls = new CallClientConfig(Role.GATEWAY, cluster, SECRET, null);
    return new OnePeer(new CallClient(endpoint(place), calls, loops, random));
  }

  /** As if another peer asked. */
  CallClient asPeer(int asked) {
    CallClientConfig calls = new CallClientConfig(Role.METADATA, cluster, SECRET, null);
    return new CallClient(endpoint(asked), calls, loops, random);
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
    for (int place = 0; place < processes.size(); place++) {
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
    for (Link link : links.values()) {
      link.close();
    }
    loops.close();
    resources.close();
  }
}
