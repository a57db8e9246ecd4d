package dev.ashlar.server.node;

import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.ErasureCodes;
import dev.ashlar.blob.context.Hedging;
import dev.ashlar.blob.context.Hedging.HedgeConfig;
import dev.ashlar.blob.engine.Engine;
import dev.ashlar.blob.engine.EngineBuilder;
import dev.ashlar.blob.read.RunningReads;
import dev.ashlar.blob.repair.GroupDebts;
import dev.ashlar.blob.repair.RepairConfig;
import dev.ashlar.blob.repair.RepairRates;
import dev.ashlar.blob.repair.Repairer;
import dev.ashlar.blob.scrub.ParityScrub;
import dev.ashlar.gateway.audit.AuditLog;
import dev.ashlar.gateway.auth.Authenticator;
import dev.ashlar.gateway.auth.FailedAttempts;
import dev.ashlar.gateway.auth.FormAuthenticator;
import dev.ashlar.gateway.auth.SigV2Authenticator;
import dev.ashlar.gateway.auth.SigV4Authenticator;
import dev.ashlar.gateway.auth.SigV4Authenticator.CredentialLookup;
import dev.ashlar.gateway.encryption.Encryptions;
import dev.ashlar.gateway.exchange.HttpExchange.RequestHandler;
import dev.ashlar.gateway.federation.FetchedKeys;
import dev.ashlar.gateway.health.HealthService;
import dev.ashlar.gateway.health.HealthService.StoreState;
import dev.ashlar.gateway.http.HttpConfig;
import dev.ashlar.gateway.http.S3Server;
import dev.ashlar.gateway.iam.IamService;
import dev.ashlar.gateway.lifecycle.LifecycleCalendar;
import dev.ashlar.gateway.minio.AdminInfoService;
import dev.ashlar.gateway.minio.AdminInfoService.StoreInfo;
import dev.ashlar.gateway.notification.EventTargets;
import dev.ashlar.gateway.operation.S3Service;
import dev.ashlar.gateway.operation.website.WebsiteService;
import dev.ashlar.gateway.principal.Principals;
import dev.ashlar.gateway.principal.RootAccount;
import dev.ashlar.gateway.principal.SecretSeals;
import dev.ashlar.gateway.query.QueryApi;
import dev.ashlar.gateway.query.QueryMetrics;
import dev.ashlar.gateway.query.QueryService;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.gateway.s3.VirtualHosts;
import dev.ashlar.gateway.session.SessionService;
import dev.ashlar.gateway.trace.TracedRequests;
import dev.ashlar.gateway.website.SiteHosts;
import dev.ashlar.metadata.garbage.GarbageCollector;
import dev.ashlar.metadata.garbage.GarbageConfig;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.memory.ByteBudget;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.trace.Tracer;
import dev.ashlar.server.account.Accounts;
import dev.ashlar.server.account.AccountsFile;
import dev.ashlar.server.admin.Admin;
import dev.ashlar.server.admin.Locator;
import dev.ashlar.server.admin.MinioInfo;
import dev.ashlar.server.cluster.UsageGauges;
import dev.ashlar.server.config.BackgroundOptions;
import dev.ashlar.server.config.MasterKeyFile;
import dev.ashlar.server.config.PortAddress;
import dev.ashlar.server.config.RootCredential;
import dev.ashlar.server.config.ServerOptions;
import dev.ashlar.server.event.TargetsFile;
import dev.ashlar.server.jobs.ClassMoves;
import dev.ashlar.server.jobs.EventDelivery;
import dev.ashlar.server.jobs.KeyRenewal;
import dev.ashlar.server.jobs.LifecycleJob;
import dev.ashlar.server.jobs.OutboxShares;
import dev.ashlar.server.jobs.PeriodicJobs;
import dev.ashlar.server.jobs.PeriodicJobs.Rest;
import dev.ashlar.server.jobs.UsageCounting;
import dev.ashlar.storage.drive.scrub.ScrubConfig;
import dev.ashlar.transport.tls.PortTls;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The gateway: the engine, and S3 over it, on whatever metadata and drives it is given. */
final class GatewayRole implements AutoCloseable {
  /**
   * Changes are folded though a read that began before them still runs, if that was so long ago.
   */
  private static final Duration FOLD_HELD_MAX = Duration.ofMinutes(5);

  /** With many debts that cannot be repaired now, looking at them takes a tenth of the time. */
  private static final Rest REPAIR_REST =
      new Rest(Duration.ofSeconds(2), 10, Duration.ofMinutes(1));

  /** Counting reads all debts, so it takes at most a tenth of the time. */
  private static final Rest COUNT_REST = new Rest(Duration.ofSeconds(10), 10, Duration.ofDays(1));

  private static final Rest USAGE_REST = Rest.of(Duration.ofSeconds(10));
  private static final Rest USAGE_METRICS_REST =
      new Rest(Duration.ofSeconds(10), 20, Duration.ofMinutes(5));

  private static final Rest SCRUB_REST = Rest.of(Duration.ofSeconds(10));
  private static final Rest MOVES_REST = Rest.of(Duration.ofSeconds(5));
  private static final Rest EVENTS_REST = Rest.of(Duration.ofMillis(500));

  /** Without targets there are hardly any events: those of targets that are gone. */
  private static final Rest NO_EVENTS_REST = Rest.of(Duration.ofSeconds(10));

  /** A look at a full outbox reads a million rows. */
  private static final Rest SHARES_REST =
      new Rest(Duration.ofSeconds(10), 3, Duration.ofMinutes(1));

  private static final long LIFECYCLE_REST_MS = 10_000;

  private final ServerOptions options;
  private final Backend backend;
  private final Dependencies dependencies;
  private final RepairRates rates;
  private final CloseStack opened = new CloseStack();
  private final Engine engine;
  private final EventTargets targets;

  /**
   * What lies behind it.
   *
   * @param drives the drive of this id, or null when there is none such
   */
  record Backend(
      UUID cluster, MetadataClient metadata, Function<UUID, @Nullable ShardStore> drives) {}

  /**
   * What it shares with the other roles of the process.
   *
   * @param clock of the machine, by which requests are signed
   * @param steady one without jumps, for all that waits or compares
   * @param audit null: there is no audit log
   * @param tracer null: nothing is traced
   */
  record Dependencies(
      ErasureCodes codes,
      SlabPool slabs,
      MeterRegistry meters,
      Clock clock,
      Clock steady,
      Encryptions encryptions,
      @Nullable AuditLog audit,
      @Nullable Tracer tracer) {}

  /**
   * @param heldByOthers given since when reads run here, since when they do anywhere
   */
  GatewayRole(
      ServerOptions options,
      Backend backend,
      Dependencies dependencies,
      LongUnaryOperator heldByOthers)
      throws IOException {
    this.options = options;
    this.backend = backend;
    this.dependencies = dependencies;
    this.rates = options.background().repairRates();
    try {
      Path events = options.service().eventTargets();
      targets = events == null ? EventTargets.NONE : opened.add(TargetsFile.read(events));
      engine =
          opened.add(
              new EngineBuilder(
                      backend.metadata(),
                      backend.drives(),
                      dependencies.codes(),
                      dependencies.slabs(),
                      ProcessMemory.ofRequests(options.sizes(), dependencies.meters()))
                  .meters(dependencies.meters())
                  .clock(dependencies.steady())
                  .hedging(
                      new Hedging(HedgeConfig.of(options.data().hedgePercent()), System::nanoTime))
                  .build(EngineConfig.DEFAULT));
      engine.start(() -> foldableBeforeMs(heldByOthers));
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  /** One slow client, wherever it reads, must not hold up all changes. */
  private long foldableBeforeMs(LongUnaryOperator heldByOthers) {
    long heldMin = dependencies.steady().millis() - FOLD_HELD_MAX.toMillis();
    return Math.max(heldByOthers.applyAsLong(engine.store().oldestMs(FOLD_HELD_MAX)), heldMin);
  }

  /**
   * From now on repairs what blobs owe and counts that and, once in the scrub period, compares the
   * shards of blobs with each other.
   *
   * @param jobs closed before this
   */
  void startRepair(PeriodicJobs jobs) {
    BackgroundOptions background = options.background();
    Repairer repairer = engine.newRepairer(rates, RepairConfig.DEFAULT);
    jobs.start("repair", Duration.ZERO, REPAIR_REST, repairer::work, repairer::forget);
    jobs.start(
        "group-debts",
        Duration.ZERO,
        COUNT_REST,
        () -> {
          engine.debts().look();
          return false;
        },
        engine.debts()::forget);
    ScrubConfig scrub = background.scrub();
    if (!scrub.period().equals(ScrubConfig.WHEN_ASKED)) {
      ByteRateLimiter rate = new ByteRateLimiter(scrub.bytesPerSecondMax());
      ParityScrub parity =
          engine.newParityScrub(rate, scrub.period(), RandomGenerator.getDefault());
      jobs.start("parity-scrub", Duration.ZERO, SCRUB_REST, parity::checkNext, () -> {});
    }
  }

  /** Moves versions to other storage classes, as operators have asked for. */
  void moveClasses(PeriodicJobs jobs) {
    ClassMoves moves =
        new ClassMoves(
            backend.metadata(),
            engine.newVersionMover(),
            rates.moves(),
            dependencies.clock(),
            dependencies.meters());
    jobs.start("profile-moves", Duration.ZERO, MOVES_REST, moves, moves::skip);
  }

  /**
   * Carries out the lifecycle rules of buckets.
   *
   * @param time by which metadata dates what it writes
   */
  void carryOutLifecycles(PeriodicJobs jobs, Clock time) {
    LifecycleCalendar calendar = options.background().lifecycleCalendar();
    LifecycleJob job =
        new LifecycleJob(
            backend.metadata(),
            engine.newVersionMover(),
            dependencies.clock(),
            time,
            calendar,
            options.background().lifecycleRate(),
            rates.moves(),
            dependencies.meters());
    Duration rest = Duration.ofMillis(Math.min(LIFECYCLE_REST_MS, calendar.dayMs() / 10));
    jobs.start("lifecycle", Duration.ZERO, Rest.of(rest), job, job::forget);
  }

  /** Seals data keys anew when it is asked to. */
  KeyRenewal keyRenewal() {
    return opened.add(new KeyRenewal(backend.metadata(), dependencies.encryptions().keys()));
  }

  /**
   * Sends the events of buckets to their targets.
   *
   * @param time by which metadata dates events
   */
  EventDelivery deliverEvents(PeriodicJobs jobs, Clock time) {
    EventDelivery delivery =
        new EventDelivery(
            backend.metadata(),
            targets,
            options.service().region(),
            System::nanoTime,
            time,
            dependencies.meters());
    Rest rest = targets.byArn().isEmpty() ? NO_EVENTS_REST : EVENTS_REST;
    jobs.start("events", Duration.ZERO, rest, delivery, delivery::skip);
    OutboxShares shares = new OutboxShares(backend.metadata(), dependencies.meters());
    jobs.start("event-shares", Duration.ZERO, SHARES_REST, shares, () -> {});
    return delivery;
  }

  /** Counts what buckets from before usage was counted hold, once after an upgrade. */
  void countUsage(PeriodicJobs jobs) {
    jobs.start("usage", Duration.ZERO, USAGE_REST, new UsageCounting(backend.metadata()), () -> {});
  }

  /** Shows what buckets and accounts hold as metrics. */
  void measureUsage(PeriodicJobs jobs) {
    UsageGauges gauges = new UsageGauges(backend.metadata(), dependencies.meters());
    jobs.start(
        "usage-metrics",
        Duration.ZERO,
        USAGE_METRICS_REST,
        () -> {
          gauges.refresh();
          return false;
        },
        gauges::clear);
  }

  /** Finds the shards of objects. */
  Locator locator() {
    return new Locator(backend.metadata(), engine.newShardVerification()::check);
  }

  /**
   * Checks that a request for data of this profile fits into the memory of this process.
   *
   * @throws IllegalArgumentException when it does not
   */
  void checkMemory(Profile profile) {
    engine.checkMemory(profile);
  }

  /** What each placement group owes. */
  GroupDebts debts() {
    return engine.debts();
  }

  /**
   * Deletes unreferenced blobs from now on. In a cluster, the grace period of the collector is
   * longer than the age of what this gateway knows of reads of others, so no read that needs a blob
   * is overlooked. A blob may go that a gateway still reads which is down: its reads end, and
   * return no wrong byte.
   *
   * @param oldestReadMs since when reads have been running, by the clock
   * @param time by which blobs lost their references
   */
  GarbageCollector collectGarbage(PeriodicJobs jobs, LongSupplier oldestReadMs, Clock time) {
    GarbageConfig config = GarbageConfig.DEFAULT;
    GarbageCollector collector =
        new GarbageCollector(
            backend.metadata(),
            backend.drives(),
            oldestReadMs,
            time,
            config,
            dependencies.meters());
    jobs.start(
        "garbage",
        config.interval(),
        Rest.of(config.interval()),
        () -> {
          collector.collect();
          return false;
        },
        () -> {});
    return collector;
  }

  /** The reads that run. */
  RunningReads reads() {
    return engine.store();
  }

  /**
   * Opens the S3 port and returns its first address, with the port chosen if none was asked for.
   *
   * @param info what clients of MinIO are told of the store
   * @param tls null: no address uses TLS
   */
  InetSocketAddress serve(
      RootCredential root, StoreState state, StoreInfo info, @Nullable PortTls tls)
      throws Exception {
    VirtualHosts hosts = new VirtualHosts(options.service().domains());
    S3Config config =
        new S3Config(
            options.service().region(),
            options.service().acceptsAnyRegion(),
            hosts,
            "ashlar",
            options.service().newBuckets(),
            options.service().answers());
    SecretSeals seals = seals();
    Path accounts = options.service().accounts();
    if (accounts != null) {
      accounts(root, seals).ensureAll(AccountsFile.read(accounts));
    }
    Principals principals = principals(root, seals);
    FailedAttempts attempts =
        new FailedAttempts(options.service().authFailuresPerMinute(), System::nanoTime)
            .measuredBy(dependencies.meters(), "s3");
    SigV4Authenticator version4 =
        new SigV4Authenticator(
            credentials(root), principals, signedRegion(), dependencies.clock(), attempts);
    Authenticator authenticator =
        options.service().acceptsSignatureV2()
            ? new SigV2Authenticator(version4, hosts, dependencies.clock(), attempts)
            : version4;
    S3Service service =
        new S3Service(
            authenticator,
            backend.metadata(),
            engine.store(),
            config,
            dependencies.encryptions(),
            targets,
            dependencies.meters(),
            dependencies.clock(),
            new SecureRandom());
    opened.add(service.accessLog().start(options.background().accessLogInterval()));
    FormAuthenticator forms =
        new FormAuthenticator(principals, signedRegion(), dependencies.clock(), attempts);
    VirtualHosts named = hosts.and(options.service().websiteDomains());
    AdminInfoService withAdministration =
        new AdminInfoService(
            TracedRequests.of(
                withWebsites(service, withIdentities(service, forms, seals)),
                dependencies.tracer()),
            named,
            forms,
            firstOwner(),
            info,
            dependencies.clock());
    HttpConfig http =
        HttpConfig.defaults(listeners(options.service().listen(), tls))
            .withTransport(options.service().transport())
            .withEventLoops(options.sizes().eventLoops())
            .withConnections(options.sizes().connections());
    ByteBudget budget = ProcessMemory.ofConnections(options.sizes());
    return opened
        .add(
            new S3Server(
                http,
                new HealthService(withAdministration, named, state),
                budget,
                dependencies.meters(),
                dependencies.clock(),
                dependencies.audit()))
        .address();
  }

  /** The region that requests have to be signed for. */
  private String signedRegion() {
    return options.service().acceptsAnyRegion()
        ? SigV4Authenticator.ANY_REGION
        : options.service().region();
  }

  private static List<HttpConfig.Listener> listeners(
      List<PortAddress> addresses, @Nullable PortTls tls) {
    List<HttpConfig.Listener> listeners = new ArrayList<>();
    for (PortAddress each : addresses) {
      listeners.add(
          new HttpConfig.Listener(
              each.endpoint().socketAddress(),
              each.isTls() ? Objects.requireNonNull(tls)::secure : null));
    }
    return listeners;
  }

  /** Websites on hosts of their own. */
  private RequestHandler withWebsites(S3Service s3, RequestHandler others) {
    SiteHosts hosts = new SiteHosts(options.service().websiteDomains());
    return new WebsiteService(s3, others, backend.metadata(), hosts);
  }

  /** IAM and STS on the same port. */
  private RequestHandler withIdentities(S3Service s3, FormAuthenticator forms, SecretSeals seals) {
    MetadataClient metadata = backend.metadata();
    Clock clock = dependencies.clock();
    Set<String> actions = new HashSet<>(IamService.actionNames());
    actions.addAll(SessionService.actionNames());
    return new QueryService(
        s3,
        forms,
        Map.of(
            QueryApi.IAM, new IamService(metadata, seals),
            QueryApi.STS, new SessionService(metadata, new FetchedKeys(), new SecureRandom())),
        new QueryMetrics(dependencies.meters(), actions),
        clock);
  }

  /** The store in the form of MinIO's answer. */
  StoreInfo info(Admin admin) {
    return new MinioInfo(
        admin,
        backend.cluster(),
        options.service().region(),
        options.service().listen().getFirst().endpoint().toString());
  }

  /** The accounts of the store. */
  Accounts accounts(RootCredential root) throws IOException {
    return accounts(root, seals());
  }

  private Accounts accounts(RootCredential root, SecretSeals seals) {
    return new Accounts(backend.metadata(), firstOwner(), root.accessKey(), seals);
  }

  /** What encrypts the secrets of access keys. */
  private SecretSeals seals() throws IOException {
    Path file = options.encryption().masterKeyFile();
    return file == null ? SecretSeals.NONE : new SecretSeals(MasterKeyFile.read(file));
  }

  private Principals principals(RootCredential root, SecretSeals seals) {
    RootAccount identities =
        new RootAccount(backend.metadata(), root.accessKey(), root.secretKey(), firstOwner());
    return new Principals(identities, seals, dependencies.clock());
  }

  /** The canonical id that the root credential belongs to. */
  private String firstOwner() {
    return backend.cluster().toString().replace("-", "");
  }

  /** The root credential is not in metadata, so a restart changes it; others are principals. */
  private CredentialLookup credentials(RootCredential root) {
    Optional<CredentialRow> row =
        Optional.of(
            CredentialRow.newBuilder()
                .setAccessKey(root.accessKey())
                .setSecretKey(root.secretKey())
                .setOwner(firstOwner())
                .setAccount(RootAccount.accountId(firstOwner()))
                .build());
    return accessKey -> root.accessKey().equals(accessKey) ? row : Optional.empty();
  }

  @Override
  public void close() {
    opened.close();
  }
}
