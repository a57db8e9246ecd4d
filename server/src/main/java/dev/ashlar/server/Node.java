package dev.ashlar.server;

import com.sun.management.HotSpotDiagnosticMXBean;
import dev.ashlar.blob.Engine;
import dev.ashlar.blob.EngineConfig;
import dev.ashlar.blob.EngineMetrics;
import dev.ashlar.blob.ErasureCodes;
import dev.ashlar.blob.ErasureObjectStore;
import dev.ashlar.blob.Folder;
import dev.ashlar.blob.HedgeConfig;
import dev.ashlar.blob.Hedging;
import dev.ashlar.blob.Leftovers;
import dev.ashlar.blob.MemoryBudget;
import dev.ashlar.blob.ObjectStore;
import dev.ashlar.blob.RunningReads;
import dev.ashlar.gateway.auth.CredentialLookup;
import dev.ashlar.gateway.auth.SigV4Authenticator;
import dev.ashlar.gateway.http.ByteBudget;
import dev.ashlar.gateway.http.HttpConfig;
import dev.ashlar.gateway.http.S3Server;
import dev.ashlar.gateway.operation.S3Service;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.metadata.consensus.CheckpointLimits;
import dev.ashlar.metadata.consensus.FolderStatus;
import dev.ashlar.metadata.garbage.GarbageCollector;
import dev.ashlar.metadata.garbage.GarbageConfig;
import dev.ashlar.metadata.server.MetadataConfig;
import dev.ashlar.metadata.server.MetadataServer;
import dev.ashlar.metadata.table.RocksResources;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.storage.drive.DriveResources;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.context.annotation.Context;
import jakarta.annotation.PreDestroy;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All roles of this process, opened in the order in which they need each other and closed in the
 * opposite one: metadata, drives, engine, S3 port.
 */
@Context
final class Node {
  private static final Logger LOG = LoggerFactory.getLogger(Node.class);

  /** What requests may hold in memory together: bodies, stripes, reads, unsent answers. */
  private static final long BUDGET_BYTES = 128L << 20;

  /**
   * Of direct memory, for the stripes and reads of requests; beyond it they wait, then SlowDown.
   */
  private static final int REQUESTS_EIGHTHS = 3;

  private static final Duration MEMORY_WAIT = Duration.ofSeconds(5);

  /** Of direct memory, where unused slabs make way for new ones of other sizes. */
  private static final int SLABS_KEPT_EIGHTHS = 5;

  /** How long the end waits for what only makes the next start faster. */
  private static final Duration CHECKPOINT_WAIT = Duration.ofSeconds(10);

  /**
   * Changes are folded though a read that began before them still runs, if that was so long ago.
   */
  private static final Duration FOLD_HELD_MAX = Duration.ofMinutes(5);

  private static final int LEFTOVERS_MAX = 100_000;

  private static final int METADATA_READ_THREADS = 4;

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final MetadataServer metadataServer;
  private final LocalDrives drives;
  private final RootCredential root;
  private final S3Server s3;
  private final StartMessage startMessage;

  Node(ServerOptions options, MeterRegistry meters) throws Exception {
    try {
      Clock clock = Clock.systemUTC();
      ErasureCodes codes = opening(new ErasureCodes(options.codec()));
      DriveResources resources =
          opening(
              new DriveResources(
                  slabs(meters), meters, clock, codes::of, DriveResources.Budget.DEFAULT));
      ResidentMemory.measure(resources.blockCache(), meters);
      if (!MetadataServer.holdMetadata(peerFolders(options))
          && LocalDrives.holdData(options.dataFolders())) {
        throw new IOException(
            "the drives hold data, but there is no metadata in "
                + options.metadataFolders()
                + ": name the folders that have it with --metadata");
      }
      Set<Path> notMounted = metadataNotMounted(options);
      List<Path> mounted = new ArrayList<>(options.metadataFolders());
      mounted.removeAll(notMounted);
      root = RootCredential.find(System.getenv(), mounted);
      FolderLocks locks = opening(new FolderLocks());
      locks.takeExisting(mounted);
      UUID cluster = ClusterIdentity.load(mounted);
      locks.takeExisting(mounted);
      metadataServer = openMetadata(options, notMounted, cluster, resources, meters, clock);
      MetadataClient metadata = metadataServer.client();
      drives = opening(new LocalDrives(options, cluster, metadata.drives().keySet(), resources));
      LocalPlacement.install(metadata, drives, options.profile());
      String codec = codes.of(options.profile()).name();
      EngineConfig engine = EngineConfig.of(options.profile());
      EngineMetrics engineMetrics = new EngineMetrics(meters);
      Folder folder =
          opening(
              new Folder(metadata, drives::store, engineMetrics, clock, engine.driveDeadline()));
      RunningReads store =
          new RunningReads(
              new ErasureObjectStore(
                  new Engine(
                      engine,
                      metadata,
                      drives::store,
                      codes,
                      resources.slabs(),
                      engineMetrics,
                      memory(meters),
                      hedging(options),
                      leftovers(meters),
                      folder)),
              clock);
      folder.start(() -> store.oldestMs(FOLD_HELD_MAX));
      Gauge.builder("ashlar.blob.unfolded.changes", folder, Folder::unfoldedChanges)
          .description("Committed changes that are not yet part of their shards")
          .register(meters);
      collectGarbage(metadata, store, meters, clock);
      root.keep(mounted);
      s3 =
          openGateway(
              options, metadata, store, credentials(root, metadata, cluster), meters, clock);
      startMessage =
          new StartMessage(
              options,
              root,
              codec,
              options.dataFolders().size() - drives.openCount(),
              metadataServer.folders());
    } catch (Exception e) {
      close();
      throw e;
    }
  }

  private static SlabPool slabs(MeterRegistry meters) {
    SlabPool slabs = new SlabPool(directMemory() / 8 * SLABS_KEPT_EIGHTHS);
    Gauge.builder("ashlar.slabs.allocated", slabs, SlabPool::allocatedBytes)
        .description("Direct memory taken for stripes and reads")
        .baseUnit("bytes")
        .register(meters);
    Gauge.builder("ashlar.slabs.lent", slabs, SlabPool::lentBytes)
        .description("Of that, in use now")
        .baseUnit("bytes")
        .register(meters);
    return slabs;
  }

  /** The rest of direct memory is the sockets' (see the byte budget) and the drives' own. */
  private static MemoryBudget memory(MeterRegistry meters) {
    MemoryBudget memory = new MemoryBudget(directMemory() / 8 * REQUESTS_EIGHTHS, MEMORY_WAIT);
    Gauge.builder("ashlar.blob.memory.reserved", memory, MemoryBudget::reservedBytes)
        .description("Direct memory that running writes and reads may use")
        .baseUnit("bytes")
        .register(meters);
    Gauge.builder("ashlar.blob.memory.waiting", memory, MemoryBudget::waiting)
        .description("Writes and reads that wait for memory")
        .register(meters);
    Gauge.builder("ashlar.blob.memory.limit", memory, MemoryBudget::limitBytes)
        .baseUnit("bytes")
        .register(meters);
    return memory;
  }

  private Hedging hedging(ServerOptions options) {
    Hedging hedging =
        opening(new Hedging(HedgeConfig.of(options.hedgePercent()), System::nanoTime));
    hedging.start();
    return hedging;
  }

  private Leftovers leftovers(MeterRegistry meters) {
    Leftovers leftovers = opening(new Leftovers(drives::store, LEFTOVERS_MAX));
    Gauge.builder("ashlar.blob.leftovers", leftovers, Leftovers::waiting)
        .description("Shards of failed writes that drives would not remove yet")
        .register(meters);
    leftovers.start();
    return leftovers;
  }

  /** What -XX:MaxDirectMemorySize allows; unset, it is as much as the heap. */
  private static long directMemory() {
    HotSpotDiagnosticMXBean vm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
    long set = Long.parseLong(vm.getVMOption("MaxDirectMemorySize").getValue());
    return set > 0 ? set : Runtime.getRuntime().maxMemory();
  }

  private static List<Path> peerFolders(ServerOptions options) {
    return options.metadataFolders().stream().map(Node::peerFolder).toList();
  }

  private static Path peerFolder(Path metadataFolder) {
    return metadataFolder.resolve("peer");
  }

  /** At the first start every folder is new and none is missing. */
  private static Set<Path> metadataNotMounted(ServerOptions options) throws IOException {
    return MetadataServer.holdMetadata(peerFolders(options))
        ? MetadataFolders.notMounted(
            options.metadataFolders(), LocalDrives.notMounted(options.dataFolders()))
        : Set.of();
  }

  private MetadataServer openMetadata(
      ServerOptions options,
      Set<Path> notMounted,
      UUID cluster,
      DriveResources resources,
      MeterRegistry meters,
      Clock clock)
      throws Exception {
    ExecutorService blockingReads =
        Executors.newFixedThreadPool(
            METADATA_READ_THREADS,
            Thread.ofPlatform().name("metadata-read-", 0).daemon().factory());
    opening(blockingReads);
    RocksResources rocks =
        new RocksResources(
            resources.env(), resources.blockCache(), resources.writeBufferManager(), blockingReads);
    MetadataConfig config =
        new MetadataConfig(
            peerFolders(options),
            notMounted.stream().map(Node::peerFolder).collect(Collectors.toSet()),
            cluster,
            rocks,
            meters,
            clock,
            MetadataConfig.COMMAND_TIMEOUT,
            CheckpointLimits.DEFAULT);
    MetadataServer server = opening(MetadataServer.open(config));
    opening(() -> server.checkpoint(CHECKPOINT_WAIT));
    return server;
  }

  /**
   * Starts removing what nobody refers to, and looks once for what earlier processes left behind:
   * the folders are locked by this one, so whoever wrote under an earlier session is gone.
   */
  private void collectGarbage(
      MetadataClient metadata, RunningReads reads, MeterRegistry meters, Clock clock) {
    GarbageCollector collector =
        opening(
            new GarbageCollector(
                metadata, drives::store, reads::oldestMs, clock, GarbageConfig.DEFAULT, meters));
    collector.start();
    Thread sweep = Thread.ofPlatform().name("orphan-sweep").daemon().start(() -> sweep(collector));
    opening(
        () -> {
          sweep.interrupt();
          sweep.join();
        });
  }

  private void sweep(GarbageCollector collector) {
    try {
      long orphans = collector.sweepDeadSessions(drives.stores());
      if (orphans > 0) {
        LOG.info("removed {} unfinished writes of earlier runs", orphans);
      }
    } catch (MetadataUnavailableException e) {
      LOG.warn("unfinished writes of earlier runs stay until the next start: {}", e.getMessage());
    } catch (RuntimeException e) {
      LOG.warn("unfinished writes of earlier runs stay until the next start", e);
    } catch (InterruptedException e) {
      LOG.debug("sweep ends with the server");
    }
  }

  private S3Server openGateway(
      ServerOptions options,
      MetadataClient metadata,
      ObjectStore store,
      CredentialLookup credentials,
      MeterRegistry meters,
      Clock clock)
      throws Exception {
    S3Config config = new S3Config(options.region(), options.domains(), "ashlar");
    SigV4Authenticator authenticator = new SigV4Authenticator(credentials, options.region(), clock);
    S3Service service =
        new S3Service(authenticator, metadata, store, config, meters, clock, new SecureRandom());
    HttpConfig standard = HttpConfig.defaults(options.listen().socketAddress());
    HttpConfig http =
        new HttpConfig(
            standard.listen(),
            options.transport(),
            standard.eventLoops(),
            standard.limits(),
            standard.timeouts());
    return opening(new S3Server(http, service, new ByteBudget(BUDGET_BYTES), meters, clock));
  }

  /** The root credential first: it is not in metadata, so a restart changes it. */
  private static CredentialLookup credentials(
      RootCredential root, MetadataClient metadata, UUID cluster) {
    Optional<CredentialRow> row =
        Optional.of(
            CredentialRow.newBuilder()
                .setAccessKey(root.accessKey())
                .setSecretKey(root.secretKey())
                .setOwner(cluster.toString().replace("-", ""))
                .build());
    return accessKey -> root.accessKey().equals(accessKey) ? row : metadata.credential(accessKey);
  }

  private <T extends AutoCloseable> T opening(T resource) {
    opened.push(resource);
    return resource;
  }

  /** How each metadata folder takes part now. */
  List<FolderStatus> metadataFolders() {
    return metadataServer.folders();
  }

  LocalDrives drives() {
    return drives;
  }

  /** Where S3 is served, the port chosen if none was asked for. */
  InetSocketAddress s3Address() {
    return s3.address();
  }

  RootCredential root() {
    return root;
  }

  StartMessage startMessage() {
    return startMessage;
  }

  @PreDestroy
  void close() {
    while (!opened.isEmpty()) {
      AutoCloseable resource = opened.pop();
      try {
        resource.close();
      } catch (Exception e) {
        LOG.error("{} did not close cleanly", resource.getClass().getSimpleName(), e);
      }
    }
  }
}
