package dev.ashlar.server.node;

import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.ErasureCodes;
import dev.ashlar.blob.context.HedgeConfig;
import dev.ashlar.blob.context.Hedging;
import dev.ashlar.blob.engine.Engine;
import dev.ashlar.blob.engine.EngineBuilder;
import dev.ashlar.blob.read.RunningReads;
import dev.ashlar.blob.repair.GroupDebts;
import dev.ashlar.blob.repair.RepairRates;
import dev.ashlar.gateway.auth.CredentialLookup;
import dev.ashlar.gateway.auth.SigV4Authenticator;
import dev.ashlar.gateway.http.HttpConfig;
import dev.ashlar.gateway.http.S3Server;
import dev.ashlar.gateway.operation.S3Service;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.memory.ByteBudget;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.server.config.RootCredential;
import dev.ashlar.server.config.ServerOptions;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/** The gateway: the engine, and S3 over it, on whatever metadata and drives it is given. */
final class GatewayRole implements AutoCloseable {
  /** What requests may hold in memory together: bodies, stripes, reads, unsent answers. */
  private static final long BUDGET_BYTES = 128L << 20;

  /**
   * Changes are folded though a read that began before them still runs, if that was so long ago.
   */
  private static final Duration FOLD_HELD_MAX = Duration.ofMinutes(5);

  private final ServerOptions options;
  private final Backend backend;
  private final Dependencies dependencies;
  private final CloseStack opened = new CloseStack();
  private final Engine engine;

  /**
   * What lies behind it.
   *
   * @param profile of new data
   * @param drives the drive of this id, or null when there is none such
   */
  record Backend(
      UUID cluster,
      Profile profile,
      MetadataClient metadata,
      Function<UUID, @Nullable ShardStore> drives) {}

  /**
   * What it shares with the other roles of the process.
   *
   * @param clock of the machine, by which requests are signed
   * @param steady one without jumps, for all that waits or compares
   */
  record Dependencies(
      ErasureCodes codes, SlabPool slabs, MeterRegistry meters, Clock clock, Clock steady) {}

  /**
   * @param heldByOthers given since when reads run here, since when they do anywhere
   */
  GatewayRole(
      ServerOptions options,
      Backend backend,
      Dependencies dependencies,
      LongUnaryOperator heldByOthers) {
    this.options = options;
    this.backend = backend;
    this.dependencies = dependencies;
    try {
      engine =
          opened.add(
              new EngineBuilder(
                      backend.metadata(),
                      backend.drives(),
                      dependencies.codes(),
                      dependencies.slabs(),
                      DirectMemory.ofRequests(dependencies.meters()))
                  .meters(dependencies.meters())
                  .clock(dependencies.steady())
                  .hedging(
                      new Hedging(HedgeConfig.of(options.data().hedgePercent()), System::nanoTime))
                  .build(EngineConfig.of(backend.profile())));
      engine.start(() -> foldableBeforeMs(heldByOthers));
    } catch (RuntimeException e) {
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
   * Repairs from now on what blobs owe.
   *
   * @param isItsTurn whether this process does it for all
   */
  void startRepair(BooleanSupplier isItsTurn) {
    RepairRates rates =
        new RepairRates(
            new ByteRateLimiter(options.background().repairBytesPerSecond()),
            new ByteRateLimiter(options.background().moveBytesPerSecond()));
    engine.startRepair(rates, isItsTurn);
  }

  /** What each placement group owes. */
  GroupDebts debts() {
    return engine.debts();
  }

  /**
   * Compares the shards of blobs with each other from now on.
   *
   * @param isItsTurn whether this process does it for all
   */
  void startParityScrub(BooleanSupplier isItsTurn) {
    ByteRateLimiter rate = new ByteRateLimiter(options.background().scrub().bytesPerSecondMax());
    engine.startParityScrub(rate, options.background().scrub().period(), isItsTurn);
  }

  /** The reads that run. */
  RunningReads reads() {
    return engine.store();
  }

  /** Opens the S3 port and returns where it is, the port chosen if none was asked for. */
  InetSocketAddress serve(RootCredential root) throws Exception {
    S3Config config =
        new S3Config(options.service().region(), options.service().domains(), "ashlar");
    SigV4Authenticator authenticator =
        new SigV4Authenticator(credentials(root), options.service().region(), dependencies.clock());
    S3Service service =
        new S3Service(
            authenticator,
            backend.metadata(),
            engine.store(),
            config,
            dependencies.meters(),
            dependencies.clock(),
            new SecureRandom());
    HttpConfig http =
        HttpConfig.defaults(options.service().listen().socketAddress())
            .withTransport(options.service().transport());
    ByteBudget budget = new ByteBudget(BUDGET_BYTES);
    return opened
        .add(new S3Server(http, service, budget, dependencies.meters(), dependencies.clock()))
        .address();
  }

  /** The root credential first: it is not in metadata, so a restart changes it. */
  private CredentialLookup credentials(RootCredential root) {
    Optional<CredentialRow> row =
        Optional.of(
            CredentialRow.newBuilder()
                .setAccessKey(root.accessKey())
                .setSecretKey(root.secretKey())
                .setOwner(backend.cluster().toString().replace("-", ""))
                .build());
    return accessKey ->
        root.accessKey().equals(accessKey) ? row : backend.metadata().credential(accessKey);
  }

  @Override
  public void close() {
    opened.close();
  }
}
