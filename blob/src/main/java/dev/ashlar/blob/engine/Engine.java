package dev.ashlar.blob.engine;

import dev.ashlar.blob.context.AbortedWriteCleaner;
import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.EngineMetrics;
import dev.ashlar.blob.context.Hedging;
import dev.ashlar.blob.context.Hedging.HedgeConfig;
import dev.ashlar.blob.fold.FoldScheduler;
import dev.ashlar.blob.move.VersionMover;
import dev.ashlar.blob.read.RunningReads;
import dev.ashlar.blob.repair.BlobRepair;
import dev.ashlar.blob.repair.GroupDebts;
import dev.ashlar.blob.repair.RepairConfig;
import dev.ashlar.blob.repair.RepairMetrics;
import dev.ashlar.blob.repair.RepairRates;
import dev.ashlar.blob.repair.Repairer;
import dev.ashlar.blob.scrub.LossVerifier;
import dev.ashlar.blob.scrub.ParityScrub;
import dev.ashlar.blob.scrub.ShardVerification;
import dev.ashlar.codec.checksum.Md5Lanes;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/** An object store on drives, and the background work that keeps what it stores whole. */
public final class Engine implements AutoCloseable {
  private final EngineContext context;

  /** For work that nobody waits for: without hedging, and not counted with requests. */
  private final EngineContext background;

  private final MeterRegistry meters;
  private final Md5Lanes lanes = new Md5Lanes();
  private final ErasureObjectStore objects;
  private final RunningReads store;
  private final FoldScheduler folds;
  private final LossVerifier losses;
  private final GroupDebts debts;
  private final Deque<Runnable> closings = new ArrayDeque<>();

  Engine(EngineContext context, MeterRegistry meters, Clock clock) {
    this.context = context;
    this.background =
        context.with(
            new EngineMetrics(new CompositeMeterRegistry()),
            new Hedging(HedgeConfig.OFF, System::nanoTime));
    this.meters = meters;
    this.folds = new FoldScheduler(context, clock);
    context.metrics().watch(lanes);
    this.objects = new ErasureObjectStore(context, folds, lanes);
    objects.checkMemory();
    this.store = new RunningReads(objects, clock);
    this.losses = new LossVerifier(context, meters);
    this.debts = new GroupDebts(context.metadata(), clock, meters);
    Gauge.builder("ashlar.blob.unfolded.changes", folds, FoldScheduler::unfoldedChanges)
        .description("Committed changes that are not yet part of their shards")
        .register(meters);
    Gauge.builder("ashlar.blob.leftovers", context.cleaner(), AbortedWriteCleaner::waiting)
        .description("Shards of failed writes that drives could not remove yet")
        .register(meters);
  }

  public EngineContext context() {
    return context;
  }

  /** The store, which knows the reads that are running. */
  public RunningReads store() {
    return store;
  }

  /**
   * Checks that a request for data of this profile fits into the memory of this process.
   *
   * @throws IllegalArgumentException when it does not
   */
  public void checkMemory(Profile profile) {
    objects.checkMemory(profile);
  }

  public FoldScheduler folds() {
    return folds;
  }

  public LossVerifier losses() {
    return losses;
  }

  /** The debts of each placement group. */
  public GroupDebts debts() {
    return debts;
  }

  /** Starts the thread that ends overdue waits for drives. Requests work without it, but slower. */
  public void startDeadlines() {
    closings.push(context.hedging()::close);
    context.hedging().start();
  }

  /**
   * Starts what every engine does beside its requests: ending overdue waits, removing the shards of
   * failed writes, verifying suspected losses, and folding.
   *
   * @param foldBeforeMs changes that were committed before this time may be folded
   */
  public void start(LongSupplier foldBeforeMs) {
    closings.push(folds::close);
    startDeadlines();
    closings.push(context.cleaner()::close);
    context.cleaner().start();
    closings.push(losses::close);
    losses.start();
    folds.start(foldBeforeMs);
  }

  public BlobRepair newBlobRepair(RepairRates rates) {
    return new BlobRepair(background, rates, new RepairMetrics(meters));
  }

  public Repairer newRepairer(RepairRates rates, RepairConfig config) {
    return new Repairer(context.metadata(), newBlobRepair(rates), config, meters);
  }

  /**
   * Moves versions to other profiles. Its reads are not among those that run: if a blob is deleted
   * or changed meanwhile, it reads the version again.
   */
  public VersionMover newVersionMover() {
    return new VersionMover(context.metadata(), new ErasureObjectStore(background, folds, lanes));
  }

  public ShardVerification newShardVerification() {
    return new ShardVerification(background);
  }

  /**
   * @param period minimum duration of a pass
   */
  public ParityScrub newParityScrub(ByteRateLimiter rate, Duration period, RandomGenerator random) {
    return new ParityScrub(background, losses, new ParityScrub.Pass(rate, period, random), meters);
  }

  /** Ends all background work, the last started first. */
  @Override
  public void close() {
    while (!closings.isEmpty()) {
      closings.pop().run();
    }
  }
}
