package dev.ashlar.server.node;

import dev.ashlar.blob.context.ErasureCodes;
import dev.ashlar.gateway.audit.AuditLog;
import dev.ashlar.metadata.consensus.MetadataConfig;
import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.metadata.garbage.GarbageCollector;
import dev.ashlar.metadata.server.MetadataServer;
import dev.ashlar.metadata.table.RocksResources;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.process.SteadyClock;
import dev.ashlar.protocol.trace.Tracer;
import dev.ashlar.server.admin.Admin;
import dev.ashlar.server.admin.Health;
import dev.ashlar.server.admin.RunningServer;
import dev.ashlar.server.admin.ScrubPage;
import dev.ashlar.server.cluster.DataRisk;
import dev.ashlar.server.cluster.FailureTolerance;
import dev.ashlar.server.cluster.Protection;
import dev.ashlar.server.cluster.RecentRisk;
import dev.ashlar.server.cluster.StoreSpace;
import dev.ashlar.server.config.ClusterIdentity;
import dev.ashlar.server.config.MetadataFolders;
import dev.ashlar.server.config.OwnMasterKey;
import dev.ashlar.server.config.RootCredential;
import dev.ashlar.server.config.ServerOptions;
import dev.ashlar.server.jobs.EventDelivery;
import dev.ashlar.server.jobs.PeriodicJobs;
import dev.ashlar.server.telemetry.Telemetry;
import dev.ashlar.storage.drive.DriveResources;
import dev.ashlar.transport.tls.PortTls;
import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.context.annotation.Context;
import io.micronaut.context.annotation.Requires;
import jakarta.annotation.PreDestroy;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongUnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All roles in this one process, opened in the order in which they need each other and closed in
 * the opposite one: metadata, drives, engine, S3 port.
 */
@Context
@Requires(property = RunningServer.PROPERTY, value = RunningServer.EMBEDDED)
public final class Node implements RunningServer {
  private static final Logger LOG = LoggerFactory.getLogger(Node.class);

  /** At drives that are not there. */
  private static final Duration LOOK_AGAIN = Duration.ofSeconds(10);

  /** That many seconds: nobody else has to be waited for. */
  private static final int VACANT_TRIES = 5;

  private final CloseStack opened = new CloseStack();
  private final @Nullable AuditLog audit;
  private final MetadataServer metadataServer;
  private final UUID cluster;
  private final LocalDrives drives;
  private final DriveScrubs scrubs;
  private final RootCredential root;
  private final Admin admin;
  private final RecentRisk risk;
  private final InetSocketAddress s3Address;
  private final @Nullable PortTls tls;
  private final StartMessage startMessage;

  Node(ServerOptions options, MeterRegistry meters) throws Exception {
    try {
      Clock clock = Clock.systemUTC();
      audit = AuditLogs.open(options, opened, meters);
      tls = ServedTls.open(options, opened, meters, clock);
      Clock steady = SteadyClock.ofSystem();
      ErasureCodes codes = opened.add(new ErasureCodes(options.data().codec()));
      DriveResources resources = opened.add(ProcessMemory.resources(options, codes, meters, clock));
      // Closed before them: it tells of them once more.
      Telemetry telemetry = opened.add(Telemetry.open(options, meters));
      if (!MetadataServer.holdMetadata(peerFolders(options))
          && DriveFolderState.holdData(options.dataFolders())) {
        throw new IOException(
            "the drives hold data, but there is no metadata in "
                + options.metadataFolders()
                + ": name the folders that have it with --metadata");
      }
      Set<Path> notMounted = metadataNotMounted(options);
      List<Path> mounted = new ArrayList<>(options.metadataFolders());
      mounted.removeAll(notMounted);
      root = RootCredential.find(System.getenv(), mounted);
      FolderLocks locks = opened.add(new FolderLocks());
      locks.takeExisting(mounted);
      cluster = ClusterIdentity.load(mounted);
      locks.takeExisting(mounted);
      metadataServer = openMetadata(options, notMounted, cluster, resources, meters, clock);
      OwnMasterKey own = ownMasterKey(options, mounted);
      MetadataClient metadata = metadataServer.client();
      Profile profile = LocalPlacement.profile(metadata, options);
      List<Profile> profiles = LocalPlacement.profiles(metadata, profile);
      for (Profile each : profiles) {
        if (each.parityShards() == 0) {
          LOG.warn("Data of profile {} is not protected: the loss of a drive is its loss.", each);
        }
      }
      drives =
          opened.add(
              new LocalDrives(
                  LocalDrives.Config.embedded(options, profiles, cluster),
                  AwaitedDrives.known(metadata),
                  resources));
      LocalPlacement placement = new LocalPlacement(metadata, drives);
      placement.install(profile);
      AwaitedDrives awaited =
          new AwaitedDrives(drives, metadata, placement, drive -> {}, LOOK_AGAIN);
      awaited.fill(VACANT_TRIES);
      GatewayRole gateway =
          opened.add(
              new GatewayRole(
                  options,
                  new GatewayRole.Backend(
                      cluster,
                      telemetry.metadata(metadata, Tracer.Kind.INTERNAL),
                      telemetry.drives(awaited::store)),
                  new GatewayRole.Dependencies(
                      codes,
                      resources.slabs(),
                      meters,
                      clock,
                      steady,
                      ObjectKeys.open(options, own, meters, opened),
                      audit,
                      telemetry.tracer()),
                  LongUnaryOperator.identity()));
      PeriodicJobs jobs = opened.add(new PeriodicJobs(() -> true, meters));
      sweepOnce(gateway.collectGarbage(jobs, gateway.reads()::oldestMs, steady));
      gateway.startRepair(jobs);
      gateway.moveClasses(jobs);
      gateway.carryOutLifecycles(jobs, steady);
      EventDelivery events = gateway.deliverEvents(jobs, steady);
      gateway.countUsage(jobs);
      gateway.measureUsage(jobs);
      admin =
          new Admin(
              metadata,
              null,
              gateway.debts(),
              awaited,
              gateway.accounts(root),
              gateway.locator(),
              gateway.keyRenewal(),
              gateway::checkMemory,
              events::state);
      FailureTolerance.measure(() -> ifKnown(() -> admin.state().failureTolerance()), meters);
      risk = new RecentRisk(() -> ifKnown(() -> admin.state().risk(metadata)), System::nanoTime);
      DataRisk.measure(risk::now, meters);
      StoreSpace.measure(() -> ifKnown(() -> admin.state().space(awaited::use)), meters);
      scrubs =
          opened.add(
              new DriveScrubs(options.background(), metadata, drives.stores(), steady, meters));
      opened.add(awaited.start(scrubs::add, AwaitedDrives.PAUSE));
      root.keep(mounted);
      if (own != null) {
        own.keep(mounted);
      }
      s3Address =
          gateway.serve(
              root, new RecentHealth(this::health, System::nanoTime), gateway.info(admin), tls);
      new OpenFiles(options.sizes().openFiles()).report(options.dataFolders().size());
      startMessage =
          new StartMessage(
              options,
              profiles,
              root,
              codes.of(profile).name(),
              options.dataFolders().size() - drives.openCount(),
              metadataServer.folders(),
              Protection.ifKnown(metadata),
              tls);
    } catch (Exception e) {
      close();
      throw e;
    }
  }

  /** Null if the operator names master keys. */
  private @Nullable OwnMasterKey ownMasterKey(ServerOptions options, List<Path> mounted)
      throws IOException, MetadataUnavailableException {
    return options.encryption().masterKeyFile() == null
        ? OwnMasterKey.find(mounted, metadataServer.encrypts())
        : null;
  }

  private static List<Path> peerFolders(ServerOptions options) {
    return options.metadataFolders().stream().map(MetadataFolders::peerFolder).toList();
  }

  /** At the first start every folder is new and none is missing. */
  private static Set<Path> metadataNotMounted(ServerOptions options) throws IOException {
    return MetadataServer.holdMetadata(peerFolders(options))
        ? MetadataFolders.notMounted(
            options.metadataFolders(), DriveFolderState.notMounted(options.dataFolders()))
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
    RocksResources rocks = MetadataRole.rocks(resources, options.sizes().metadataReads(), opened);
    MetadataConfig config =
        new MetadataConfig(
            peerFolders(options),
            notMounted.stream().map(MetadataFolders::peerFolder).collect(Collectors.toSet()),
            cluster,
            rocks,
            meters,
            clock,
            MetadataConfig.COMMAND_TIMEOUT,
            CheckpointLimits.DEFAULT.withVerifyEvery(options.background().scrub().period()));
    MetadataServer server = opened.add(MetadataServer.open(config));
    opened.add(() -> server.checkpoint(MetadataRole.CHECKPOINT_WAIT));
    return server;
  }

  /**
   * Removes what earlier processes left behind: the folders are locked by this one, so whoever
   * wrote under an earlier session is gone.
   */
  private void sweepOnce(GarbageCollector collector) {
    Thread sweep = Thread.ofPlatform().name("orphan-sweep").daemon().start(() -> sweep(collector));
    opened.add(
        () -> {
          sweep.interrupt();
          sweep.join();
        });
  }

  private void sweep(GarbageCollector collector) {
    try {
      while (mayBeRestored()) {
        Thread.sleep(AwaitedDrives.PAUSE); // until the loss is accepted
      }
      long orphans = collector.sweepDeadSessions(drives.stores());
      if (orphans > 0) {
        LOG.info("Removed {} unfinished writes of earlier runs.", orphans);
      }
    } catch (MetadataUnavailableException e) {
      LOG.warn(
          "Unfinished writes of earlier runs are kept until the next start: {}", e.getMessage());
    } catch (RuntimeException e) {
      LOG.warn("Unfinished writes of earlier runs are kept until the next start.", e);
    } catch (InterruptedException e) {
      LOG.debug("The sweep ends with the server.");
    }
  }

  private boolean mayBeRestored() {
    try {
      return metadataServer.client().registry().getRestored();
    } catch (MetadataUnavailableException e) {
      LOG.debug("Whether metadata was restored is not known yet: {}", e.getMessage());
      return true;
    }
  }

  @Override
  public Health health() {
    Health.Metadata metadata = Health.Metadata.of(metadataServer.folders());
    DataRisk recent = risk.now();
    return Health.of(
        metadataServer.client().placement().present().stream().map(PlacedProfile::profile).toList(),
        drives.health(),
        metadata,
        metadata.hasMajority() ? Protection.ifKnown(metadataServer.client()) : Protection.UNKNOWN,
        recent == null ? DataRisk.UNKNOWN : recent);
  }

  private interface Look<T> {
    T make() throws MetadataUnavailableException;
  }

  /** Null where metadata does not answer. */
  private <T> @Nullable T ifKnown(Look<T> look) {
    try {
      boolean hasMetadata = Health.Metadata.of(metadataServer.folders()).hasMajority();
      return hasMetadata ? look.make() : null;
    } catch (MetadataUnavailableException e) {
      return null;
    }
  }

  @Override
  public Admin admin() {
    return admin;
  }

  @Override
  public InputStream backUpMetadata() throws MetadataUnavailableException, IOException {
    return metadataServer.backup(cluster, Clock.systemUTC().instant());
  }

  @Override
  public ScrubPage scrub() {
    return scrubs.page();
  }

  @Override
  public void startScrub() {
    scrubs.startNow();
  }

  /** The first address where S3 is served, with the port chosen if none was asked for. */
  public InetSocketAddress s3Address() {
    return s3Address;
  }

  @Override
  public RootCredential root() {
    return root;
  }

  @Override
  public @Nullable PortTls tls() {
    return tls;
  }

  @Override
  public @Nullable AuditLog audit() {
    return audit;
  }

  @Override
  public void printStarted(PrintStream out, boolean terminal) {
    startMessage.print(out, terminal);
  }

  @PreDestroy
  void close() {
    opened.close();
  }
}
