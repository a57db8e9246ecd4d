package dev.ashlar.server.node;

import dev.ashlar.blob.context.ErasureCodes;
import dev.ashlar.gateway.audit.AuditLog;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.model.NodeLiveness;
import dev.ashlar.protocol.process.SteadyClock;
import dev.ashlar.protocol.trace.Tracer;
import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.server.admin.Admin;
import dev.ashlar.server.admin.ClusterHealth;
import dev.ashlar.server.admin.Health;
import dev.ashlar.server.admin.RunningServer;
import dev.ashlar.server.admin.ScrubPage;
import dev.ashlar.server.cluster.ClusterBalance;
import dev.ashlar.server.cluster.ClusterDrives;
import dev.ashlar.server.cluster.DataRisk;
import dev.ashlar.server.cluster.FailureTolerance;
import dev.ashlar.server.cluster.LogTime;
import dev.ashlar.server.cluster.Membership;
import dev.ashlar.server.cluster.Protection;
import dev.ashlar.server.cluster.StoreSpace;
import dev.ashlar.server.config.ClusterOptions;
import dev.ashlar.server.config.RootCredential;
import dev.ashlar.server.config.ServerOptions;
import dev.ashlar.server.config.ServerRole;
import dev.ashlar.server.jobs.EventDelivery;
import dev.ashlar.server.jobs.PeriodicJobs;
import dev.ashlar.server.telemetry.Telemetry;
import dev.ashlar.storage.drive.DriveResources;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.call.CallClientConfig;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.metadata.RemoteMetadata;
import dev.ashlar.transport.metadata.RemoteMetadataConfig;
import dev.ashlar.transport.session.FramePort;
import dev.ashlar.transport.tls.ClusterTls;
import dev.ashlar.transport.tls.PortTls;
import dev.ashlar.transport.tls.TlsFiles;
import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.context.annotation.Context;
import io.micronaut.context.annotation.Requires;
import jakarta.annotation.PreDestroy;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The roles that this process has in a cluster. Each finds the others only over connections, also
 * where they are in the same process, except a gateway its own drives.
 */
@Context
@Requires(property = RunningServer.PROPERTY, value = RunningServer.CLUSTER)
final class ClusterNode implements RunningServer {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterNode.class);
  private static final Duration CONNECTIONS_WAIT = Duration.ofSeconds(5);
  private static final Duration PAUSE = Duration.ofMillis(250);
  private static final Duration SAY_AGAIN = Duration.ofSeconds(10);

  /** That many seconds: the others may be starting, too. */
  private static final int VACANT_TRIES = (int) (2 * NodeLiveness.DOWN_MS / 1000);

  private final ServerOptions options;
  private final ClusterOptions cluster;
  private final MeterRegistry meters;
  private final Clock clock = Clock.systemUTC();
  private final Clock steady = SteadyClock.ofSystem();
  private final CloseStack opened = new CloseStack();
  private final Telemetry telemetry;
  private final @Nullable AuditLog audit;
  private final @Nullable ClusterTls tls;
  private final @Nullable PortTls portTls;
  private final EventLoops loops;
  private final ErasureCodes codes;
  private final DriveResources resources;
  private @Nullable MetadataRole metadataRole;
  private @Nullable StorageRole storage;
  private @Nullable DriveScrubs scrubs;
  private @Nullable RootCredential root;
  private @Nullable Serving serving;

  /** What a gateway has. */
  private record Serving(
      ClusterDrives drives, MetadataClient metadata, Admin admin, RootCredential root) {}

  ClusterNode(ServerOptions options, MeterRegistry meters) throws Exception {
    this.options = options;
    this.meters = meters;
    cluster = Objects.requireNonNull(options.cluster());
    try {
      // Before anything is opened: what is wrong with it shows at once.
      tls = openTls();
      audit = AuditLogs.open(options, opened, meters);
      portTls = ServedTls.open(options, opened, meters, clock);
      int threads = options.sizes().eventLoops();
      loops = opened.add(new EventLoops(options.service().transport(), threads, "cluster"));
      codes = opened.add(new ErasureCodes(options.data().codec()));
      resources = opened.add(ProcessMemory.resources(options, codes, meters, clock));
      // Closed before them: it tells of them once more.
      telemetry = opened.add(Telemetry.open(options, meters));
      start();
      new OpenFiles(options.sizes().openFiles()).report(options.dataFolders().size());
    } catch (Exception e) {
      close();
      throw e;
    }
  }

  private @Nullable ClusterTls openTls() throws IOException {
    TlsFiles files = options.clusterTls();
    if (files == null) {
      return null;
    }
    String host = cluster.isServing() ? cluster.host() : null;
    ClusterTls open = opened.add(ClusterTls.open(files, host, clock));
    ServedTls.validity("ashlar.cluster.tls.valid", open, ClusterTls::validUntil, clock)
        .description("Time until the certificate for connections inside the cluster expires")
        .register(meters);
    return open;
  }

  private void start() throws Exception {
    // Before anything is opened or waited for: what is wrong with it shows at once.
    RootCredential given =
        cluster.has(ServerRole.GATEWAY)
            ? RootCredential.given(System.getenv(), cluster.credentials())
            : RootCredential.ifGiven(System.getenv(), cluster.credentials());
    root = given;
    FramePort port = cluster.isServing() ? openPort() : null;
    if (port != null && cluster.has(ServerRole.METADATA)) {
      metadataRole =
          opened.add(
              new MetadataRole(
                  options.metadataFolders().getFirst(),
                  cluster,
                  new MetadataRole.Dependencies(
                      resources,
                      port,
                      loops,
                      tls,
                      meters,
                      options.background().scrub().period(),
                      options.sizes().metadataReads(),
                      telemetry.tracer()),
                  clock));
    }
    if (cluster.has(ServerRole.STORAGE) || cluster.has(ServerRole.GATEWAY)) {
      RemoteMetadata metadata = awaitMetadata();
      if (port != null && cluster.has(ServerRole.STORAGE)) {
        storage = openDrives(metadata);
      }
      Membership member = join(metadata, storage);
      if (port != null && storage != null) {
        serveDrives(metadata, storage, port);
      }
      if (given != null && cluster.has(ServerRole.GATEWAY)) {
        serving = serve(metadata, member, given);
      }
    }
    if (port != null) {
      opened.add(port); // Once more: first of all nobody new comes.
    }
  }

  private FramePort openPort() throws IOException {
    return opened.add(
        new FramePort(cluster.clusterListen().socketAddress(), tls, FrameTimes.DEFAULT, loops));
  }

  /** Metadata nodes may start later than the others, and have to find each other first. */
  private RemoteMetadata awaitMetadata() throws IOException, InterruptedException {
    RemoteMetadataConfig config =
        new RemoteMetadataConfig(
            cluster.metadataNodes(),
            new CallClientConfig(
                cluster.has(ServerRole.GATEWAY) ? Role.GATEWAY : Role.STORAGE_NODE,
                cluster.id(),
                cluster.secret(),
                tls),
            RemoteMetadataConfig.TIMEOUT);
    while (true) {
      try {
        return opened.add(RemoteMetadata.open(config, loops));
      } catch (HandshakeException e) {
        throw new IOException("the metadata nodes do not take this process", e);
      } catch (MetadataUnavailableException e) {
        LOG.warn("Waiting for the metadata nodes {}: {}", cluster.metadataNodes(), e.getMessage());
        Thread.sleep(PAUSE);
      }
    }
  }

  private StorageRole openDrives(MetadataClient metadata)
      throws IOException, MetadataUnavailableException, InterruptedException {
    LocalDrives.Config config = LocalDrives.Config.ofNode(options, cluster);
    return opened.add(new StorageRole(config, AwaitedDrives.known(metadata), resources));
  }

  private Membership join(MetadataClient metadata, @Nullable StorageRole own) throws Exception {
    Membership member =
        opened.add(
            new Membership(
                metadata,
                cluster,
                own == null ? List.of() : own.drives().rows(),
                options.profile(),
                ClusterNode::endProcess));
    member.join();
    if (own != null) {
      member.reportUse(own.drives()::use);
      own.fillVacant(metadata, member, VACANT_TRIES);
      checkUseful(own);
    }
    return member;
  }

  /** Whoever started it then starts it again, and so looks again. */
  private void checkUseful(StorageRole own) throws IOException {
    if (!own.isUseful() && cluster.roles().size() == 1) {
      throw new IOException("no drive of this storage node can be used: the log says why");
    }
  }

  /** Not on the calling thread: the end of the process waits for that one. */
  private static void endProcess() {
    Thread.ofPlatform().name("session-ended").daemon().start(() -> System.exit(1));
  }

  /** Serves the drives, and those that come late as soon as they do. */
  private void serveDrives(RemoteMetadata metadata, StorageRole own, FramePort port)
      throws IOException {
    if (!own.isUseful()) {
      return;
    }
    own.serve(port, cluster.id(), cluster.secret(), options.sizes(), telemetry::served);
    DriveScrubs looking =
        opened.add(
            new DriveScrubs(options.background(), metadata, own.drives().stores(), steady, meters));
    scrubs = looking;
    opened.add(own.awaitVacant(looking::add, AwaitedDrives.PAUSE));
  }

  private Serving serve(RemoteMetadata metadata, Membership member, RootCredential root)
      throws Exception {
    awaitMap(metadata);
    ClusterDrives drives =
        opened.add(
            new ClusterDrives(
                metadata,
                cluster,
                this::localDrive,
                new ClusterDrives.Dependencies(loops, tls, resources.slabs(), steady)));
    drives.start();
    FailureTolerance.measure(drives::failureTolerance, meters);
    DataRisk.measure(drives::riskIfKnown, meters);
    StoreSpace.measure(drives::space, meters);
    drives.awaitConnections(CONNECTIONS_WAIT);
    GatewayRole gateway =
        opened.add(
            new GatewayRole(
                options,
                new GatewayRole.Backend(
                    cluster.id(),
                    telemetry.metadata(metadata, Tracer.Kind.CLIENT),
                    telemetry.drives(drives::store)),
                new GatewayRole.Dependencies(
                    codes,
                    resources.slabs(),
                    meters,
                    clock,
                    steady,
                    ObjectKeys.open(options, null, meters, opened),
                    audit,
                    telemetry.tracer()),
                drives::oldestReadMs));
    member.reportReads(() -> oldestReadMs(gateway, drives.logTime()));
    BooleanSupplier isItsTurn = () -> drives.isFresh() && drives.isFirstGateway();
    PeriodicJobs jobs = opened.add(new PeriodicJobs(isItsTurn, meters));
    gateway.startRepair(jobs);
    gateway.moveClasses(jobs);
    gateway.countUsage(jobs);
    gateway.measureUsage(jobs);
    LogTime logTime = drives.logTime();
    gateway.carryOutLifecycles(jobs, logTime);
    EventDelivery events = gateway.deliverEvents(jobs, logTime);
    gateway.collectGarbage(
        jobs, () -> logTime.ofOwn(drives.oldestReadMs(gateway.reads().oldestMs())), logTime);
    new ClusterBalance(metadata, cluster.outAfter(), drives::hasFailed, System::nanoTime)
        .start(jobs);
    Admin admin =
        new Admin(
            metadata,
            metadata,
            gateway.debts(),
            knowledge(drives),
            gateway.accounts(root),
            gateway.locator(),
            gateway.keyRenewal(),
            gateway::checkMemory,
            events::state);
    gateway.serve(
        root, new RecentHealth(this::health, System::nanoTime), gateway.info(admin), portTls);
    return new Serving(drives, metadata, admin, root);
  }

  private Admin.DriveKnowledge knowledge(ClusterDrives drives) {
    return new Admin.DriveKnowledge() {
      @Override
      public boolean hasFailed(UUID drive) {
        return drives.hasFailed(drive);
      }

      @Override
      public @Nullable Path folder(UUID drive) {
        StorageRole own = storage;
        return own == null ? null : own.drives().folder(drive);
      }
    };
  }

  private @Nullable ShardStore localDrive(UUID id) {
    StorageRole own = storage;
    return own == null ? null : own.store(id);
  }

  /** A new cluster has none before all drives are there that it begins with. */
  private void awaitMap(MetadataClient metadata)
      throws MetadataUnavailableException, InterruptedException {
    long saidNanos = 0;
    while (true) {
      Registry registry = metadata.registry();
      if (registry.getEpoch() > 0) {
        // Nobody that is started after this may meet a process that has not heard of it yet.
        metadata.placement(registry.getEpoch());
        return;
      }
      if (saidNanos == 0 || System.nanoTime() - saidNanos > SAY_AGAIN.toNanos()) {
        LOG.info(
            "Waiting for the expected number of drives; {} have joined.",
            registry.getDrivesCount());
        saidNanos = System.nanoTime();
      }
      Thread.sleep(PAUSE);
    }
  }

  /** In log time: the others have clocks of their own. */
  private long oldestReadMs(GatewayRole gateway, LogTime logTime) {
    long nowMs = steady.millis();
    long oldestMs = gateway.reads().oldestMs();
    return oldestMs < nowMs ? logTime.ofOwn(oldestMs) : 0;
  }

  @Override
  public ClusterHealth health() {
    Serving gateway = serving;
    StorageRole own = storage;
    MetadataRole role = metadataRole;
    ClusterHealth.Peer peer = role == null ? null : ClusterHealth.Peer.of(role.status());
    if (gateway != null) {
      return ClusterHealth.ofGateway(
          cluster, gateway.metadata().placement(), gateway.drives(), peer);
    }
    Health.Drives drives = own == null ? new Health.DriveSurvey().drives() : own.drives().health();
    return ClusterHealth.ofOthers(cluster, drives, peer);
  }

  @Override
  public InputStream backUpMetadata()
      throws MetadataUnavailableException, Admin.RefusedException, IOException {
    MetadataRole role = metadataRole;
    if (role == null) {
      throw new Admin.RefusedException(
          "this process has no metadata: name the management ports of the metadata nodes");
    }
    return role.backUp(cluster.id(), clock.instant());
  }

  @Override
  public ScrubPage scrub() {
    DriveScrubs own = scrubs;
    return own == null ? new ScrubPage(List.of()) : own.page();
  }

  @Override
  public void startScrub() {
    DriveScrubs own = scrubs;
    if (own != null) {
      own.startNow();
    }
  }

  @Override
  public @Nullable Admin admin() {
    Serving gateway = serving;
    return gateway == null ? null : gateway.admin();
  }

  @Override
  public @Nullable RootCredential root() {
    return root;
  }

  @Override
  public @Nullable PortTls tls() {
    return portTls;
  }

  @Override
  public @Nullable AuditLog audit() {
    return audit;
  }

  @Override
  public void printStarted(PrintStream out, boolean terminal) {
    out.println("Ashlar is ready: node " + cluster.node() + " of cluster " + cluster.name());
    out.println("  Roles        " + ClusterHealth.names(cluster.roles()));
    if (cluster.isServing()) {
      out.println("  Cluster      " + cluster.address() + ", bound to " + cluster.clusterListen());
    }
    if (tls != null) {
      out.println("  Cluster TLS  between all processes, certificate until " + tls.validUntil());
    }
    StartMessage.printPort(out, "Management", options.service().managementListen(), "/health");
    out.println("  Sizes        " + options.sizes().told());
    StartMessage.printTls(out, portTls);
    Serving gateway = serving;
    if (gateway != null) {
      StartMessage.printPort(out, "S3", options.service().listen(), "");
      out.println("  Credentials  " + gateway.root().told());
      Protection protection = gateway.drives().protection();
      if (!protection.holdsAllShards()) {
        out.println("  Protection   " + StartMessage.text(protection));
      }
    }
    out.flush();
  }

  @PreDestroy
  void close() {
    opened.close();
  }
}
