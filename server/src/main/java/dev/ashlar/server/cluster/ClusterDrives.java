package dev.ashlar.server.cluster;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.DebtLevel;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.NodeLiveness;
import dev.ashlar.protocol.process.BackgroundThread;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.server.config.ClusterOptions;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.client.NodeConfig;
import dev.ashlar.transport.client.RemoteNode;
import dev.ashlar.transport.tls.ClusterTls;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The drives of the cluster as a gateway reaches them: its own process's directly, those of others
 * over a connection to each node. Looks every few seconds where metadata says that the nodes are.
 */
public final class ClusterDrives implements ClusterView, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterDrives.class);
  private static final Duration INTERVAL = Duration.ofSeconds(2);

  /** What was seen so long ago says nothing about who reads now. */
  private static final Duration FRESH = Duration.ofSeconds(30);

  private final MetadataClient metadata;
  private final ClusterOptions cluster;
  private final Function<UUID, @Nullable ShardStore> local;
  private final Dependencies dependencies;
  private final LogTime logTime;
  private final SecureRandom random = new SecureRandom();

  /** Used by whoever refreshes, which is one thread at a time. */
  private final Map<Place, RemoteNode> nodes = new HashMap<>();

  private volatile Map<UUID, RemoteNode> byDrive = Map.of();
  private volatile View view;
  private volatile Assessed assessed = new Assessed(DataRisk.UNKNOWN, System.nanoTime());
  private @Nullable BackgroundThread watch;

  /**
   * What connections are made with.
   *
   * @param tls null: none
   * @param clock one without jumps
   */
  public record Dependencies(
      EventLoops loops, @Nullable ClusterTls tls, SlabPool slabs, Clock clock) {}

  /** A connection stays as long as this does. */
  private record Place(String host, int port, Set<UUID> drives) {}

  private record View(Registry registry, List<DebtLevel> debts, long seenNanos) {}

  private record Assessed(DataRisk risk, long seenNanos) {}

  /**
   * @param local the drive of this process with this id, or null
   */
  public ClusterDrives(
      MetadataClient metadata,
      ClusterOptions cluster,
      Function<UUID, @Nullable ShardStore> local,
      Dependencies dependencies)
      throws MetadataUnavailableException {
    this.metadata = metadata;
    this.cluster = cluster;
    this.local = local;
    this.dependencies = dependencies;
    this.logTime = new LogTime(dependencies.clock());
    this.view = look();
    assessRisk();
  }

  private View look() throws MetadataUnavailableException {
    Registry registry = metadata.registry();
    logTime.seen(registry.getLogTimeMs());
    List<DebtLevel> debts = metadata.debts();
    return new View(registry, debts, System.nanoTime());
  }

  /** Where it fails, the nodes are followed nevertheless. */
  private void assessRisk() {
    View seen = view;
    try {
      assessed = new Assessed(risk(seen.registry(), seen.debts()), seen.seenNanos());
    } catch (MetadataUnavailableException e) {
      LOG.debug("Risk assessment failed; keeping the last known result: {}", e.getMessage());
    } catch (RuntimeException e) {
      LOG.warn("Risk assessment failed; keeping the last known result.", e);
    }
  }

  private DataRisk risk(Registry registry, List<DebtLevel> debts)
      throws MetadataUnavailableException {
    if (registry.getEpoch() == 0) {
      return DataRisk.UNKNOWN; // nothing can be written yet
    }
    KnownDrives known = new KnownDrives(registry, metadata.placement(registry.getEpoch()));
    return new StoreState(known, known.down(), debts).risk(metadata);
  }

  /** Follows the nodes until it is closed. */
  public void start() {
    follow(view.registry());
    watch = BackgroundThread.start("cluster-drives", this::watch);
  }

  private void watch() throws InterruptedException {
    while (true) {
      Thread.sleep(INTERVAL);
      try {
        view = look();
        follow(view.registry());
        assessRisk();
      } catch (MetadataUnavailableException e) {
        LOG.debug("Node refresh failed; keeping the last known list: {}", e.getMessage());
      } catch (RuntimeException e) {
        LOG.warn("Node refresh failed; keeping the last known list.", e);
      }
    }
  }

  private void follow(Registry registry) {
    Map<String, List<DriveId>> drives =
        registry.getDrivesList().stream()
            .filter(row -> local.apply(DriveId.of(row).id()) == null)
            .collect(
                Collectors.groupingBy(
                    DriveRow::getNode, Collectors.mapping(DriveId::of, Collectors.toList())));
    Set<Place> present = new HashSet<>();
    Map<UUID, RemoteNode> reached = new HashMap<>();
    for (NodeRow node : registry.getNodesList()) {
      List<DriveId> own = drives.getOrDefault(node.getName(), List.of());
      if (!own.isEmpty()) {
        Set<UUID> ids = own.stream().map(DriveId::id).collect(Collectors.toUnmodifiableSet());
        Place place = new Place(node.getHost(), node.getPort(), ids);
        present.add(place);
        RemoteNode remote = nodes.computeIfAbsent(place, at -> connect(at, own));
        ids.forEach(id -> reached.put(id, remote));
      }
    }
    byDrive = Map.copyOf(reached);
    nodes
        .entrySet()
        .removeIf(entry -> !present.contains(entry.getKey()) && close(entry.getValue()));
  }

  private RemoteNode connect(Place place, List<DriveId> drives) {
    NodeConfig config =
        new NodeConfig(
            place.host(),
            place.port(),
            Role.GATEWAY,
            cluster.id(),
            cluster.secret(),
            drives,
            dependencies.tls(),
            NodeConfig.Times.DEFAULT,
            NodeConfig.Limits.DEFAULT);
    return new RemoteNode(config, dependencies.loops(), dependencies.slabs(), random);
  }

  private static boolean close(RemoteNode node) {
    node.close();
    return true;
  }

  /** The drive, or null when nobody has registered it. */
  public @Nullable ShardStore store(UUID id) {
    ShardStore own = local.apply(id);
    if (own != null) {
      return own;
    }
    RemoteNode node = byDrive.get(id);
    return node == null ? null : node.store(id);
  }

  /** Waits a little for the nodes that are there, so that the first requests find them. */
  public void awaitConnections(Duration wait) throws InterruptedException {
    long deadline = System.nanoTime() + wait.toNanos();
    for (RemoteNode node : Set.copyOf(byDrive.values())) {
      long left = Math.max(0, deadline - System.nanoTime());
      node.awaitConnected(Duration.ofNanos(left));
    }
  }

  @Override
  public @Nullable ShardStore reached(UUID id) {
    RemoteNode node = byDrive.get(id);
    boolean isReachable = local.apply(id) != null || (node != null && node.status().isConnected());
    return isReachable ? store(id) : null;
  }

  /** Whether the drive takes no writes because one has failed, or hangs; its node tells. */
  public boolean hasFailed(UUID id) {
    ShardStore store = reached(id);
    return store != null && store.writeRefusal() == ShardFault.READ_ONLY;
  }

  @Override
  public Registry registry() {
    return view.registry();
  }

  @Override
  public Protection protection() {
    StoreState state = state();
    return isFresh() ? state.protection() : Protection.UNKNOWN;
  }

  private StoreState state() {
    View seen = view;
    KnownDrives known = new KnownDrives(seen.registry(), metadata.placement());
    return new StoreState(known, known.down(), seen.debts());
  }

  @Override
  public DataRisk risk() {
    DataRisk risk = riskIfKnown();
    return risk == null ? DataRisk.UNKNOWN : risk;
  }

  /** The same; null where that is not known. */
  public @Nullable DataRisk riskIfKnown() {
    Assessed recent = assessed;
    return isFresh(recent.seenNanos()) ? recent.risk() : null;
  }

  /** How much more may be lost now; null where that is not known. */
  public @Nullable FailureTolerance failureTolerance() {
    StoreState state = state();
    return isFresh() ? state.failureTolerance() : null;
  }

  /** How full the drives are together; null where that is not known. */
  public @Nullable StoreSpace space() {
    StoreState state = state();
    return isFresh() ? state.space(DriveUse::of) : null;
  }

  @Override
  public boolean isFresh() {
    return isFresh(view.seenNanos());
  }

  private static boolean isFresh(long seenNanos) {
    return System.nanoTime() - seenNanos < FRESH.toNanos();
  }

  /** What metadata dates by. */
  public LogTime logTime() {
    return logTime;
  }

  /** Since when reads have been running anywhere, given since when they have here. */
  public long oldestReadMs(long oldestHereMs) {
    long oldest = oldestHereMs;
    for (NodeRow node : gatewaysUp()) {
      boolean isReading = node.getOldestReadMs() > 0 && !node.getName().equals(cluster.node());
      oldest = isReading ? Math.min(oldest, logTime.toOwn(node.getOldestReadMs())) : oldest;
    }
    return oldest;
  }

  /** Whether this process does what one gateway has to do for all. */
  public boolean isFirstGateway() {
    return gatewaysUp().stream()
        .map(NodeRow::getName)
        .min(String::compareTo)
        .filter(cluster.node()::equals)
        .isPresent();
  }

  private List<NodeRow> gatewaysUp() {
    Registry registry = registry();
    return registry.getNodesList().stream()
        .filter(NodeRow::getGateway)
        .filter(node -> NodeLiveness.isUp(node, registry.getLogTimeMs()))
        .toList();
  }

  @Override
  public void close() {
    BackgroundThread.closeIfStarted(watch);
    nodes.values().forEach(RemoteNode::close);
  }
}
