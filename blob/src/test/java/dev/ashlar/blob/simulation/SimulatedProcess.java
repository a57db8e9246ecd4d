package dev.ashlar.blob.simulation;

import static java.util.Objects.requireNonNull;

import dev.ashlar.blob.context.AbortedWriteCleaner;
import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.ErasureCodes;
import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.blob.context.SuspectShardQueue;
import dev.ashlar.blob.context.SuspectShardQueue.Suspect;
import dev.ashlar.blob.engine.Engine;
import dev.ashlar.blob.engine.EngineBuilder;
import dev.ashlar.blob.fold.FoldScheduler;
import dev.ashlar.blob.move.VersionMover;
import dev.ashlar.blob.move.VersionMover.Outcome;
import dev.ashlar.blob.read.RunningReads;
import dev.ashlar.blob.repair.RepairConfig;
import dev.ashlar.blob.repair.RepairRates;
import dev.ashlar.blob.repair.Repairer;
import dev.ashlar.blob.scrub.LossVerifier;
import dev.ashlar.blob.scrub.ParityScrub;
import dev.ashlar.codec.CodecChoice;
import dev.ashlar.metadata.garbage.GarbageCollector;
import dev.ashlar.metadata.garbage.GarbageConfig;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.UploadsQuery;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One life of a process: the engine with all that works behind it, and its client of metadata,
 * which tells the {@link BytesModel} of each change in the moment in which it is committed.
 */
final class SimulatedProcess {
  /** No wait runs into it, however slow the machine. */
  static final Duration NEVER = Duration.ofHours(1);

  static final Duration GRACE = Duration.ofSeconds(2);

  private static final GarbageConfig GARBAGE =
      new GarbageConfig(GRACE, Duration.ofHours(6), NEVER, 100, NEVER, Duration.ofSeconds(3));

  /** At least one blob after the other, so that only chance decides what happens when. */
  private static final RepairConfig REPAIR = new RepairConfig(1, NEVER);

  /** As if two processes thought that it is their turn. */
  private static final int REPAIRERS = 2;

  private static final int REPAIR_ROUNDS_MAX = 100;

  private static final VersionMover.Follower MOVES =
      new VersionMover.Follower() {
        private final ByteRateLimiter unbounded = new ByteRateLimiter(0);

        @Override
        public ByteRateLimiter rate() {
          return unbounded;
        }

        @Override
        public boolean goesOn() {
          return true;
        }

        @Override
        public void moved(long bytes) {}
      };

  static final SlabPool POOL = new SlabPool();
  static final ErasureCodes CODES = new ErasureCodes(CodecChoice.JAVA);

  final MetadataClient client;
  final MemoryBudget memory = new MemoryBudget(64 << 20, NEVER);
  final RunningReads store;
  final FoldScheduler folds;
  final AbortedWriteCleaner cleaner;
  final LossVerifier losses;
  final ParityScrub parity;
  private final VersionMover mover;
  private final SteppedHedging hedging;
  private final SuspectShardQueue suspects;
  final GarbageCollector collector;
  private final MetadataClient metadata;
  final List<Repairer> repairers = new ArrayList<>();
  private final Surroundings surroundings;
  private final Map<Thread, Request> requests = new HashMap<>();
  private final Map<Thread, BytesModel.State> seen = new HashMap<>();
  private final MeterRegistry meters = new SimpleMeterRegistry();
  private final Clock clock;
  private boolean isDead;
  private int moves;

  /** What becomes of a command on its way to metadata and back. */
  enum Fate {
    ANSWERED,
    REFUSED,
    /** It never arrives, which nobody knows. */
    LOST,
    /** It arrives, and the answer does not. */
    ANSWER_LOST,
    /** It arrives after its sender has given up. */
    LATE
  }

  /** Where the process lives. */
  interface Surroundings {
    @Nullable ShardStore drive(UUID id);

    /** Asked before a command is sent; may also end the process in this very moment. */
    Fate fate(Command.Builder command);

    /** Asked when it has been carried out. */
    void committed(Command.Builder command);

    BytesModel model();

    /** How long garbage stays for sure: not at all where others collect it by other clocks. */
    Duration grace();

    SteppedThreads threads();

    Random random();
  }

  /** What a client asked for, and how often it came true. */
  static final class Request {
    private final Consumer<BytesModel> effect;
    private int commits;

    Request(Consumer<BytesModel> effect) {
      this.effect = effect;
    }

    int commits() {
      return commits;
    }
  }

  SimulatedProcess(
      EngineConfig config, MetadataClient metadata, Clock clock, Surroundings surroundings) {
    this.metadata = metadata;
    this.clock = clock;
    this.surroundings = surroundings;
    client =
        (MetadataClient)
            Proxy.newProxyInstance(
                MetadataClient.class.getClassLoader(),
                new Class<?>[] {MetadataClient.class},
                (proxy, method, arguments) -> call(method, arguments));
    Function<UUID, @Nullable ShardStore> drives = id -> isDead ? null : surroundings.drive(id);
    hedging = new SteppedHedging(clock, surroundings.random());
    Engine engine =
        new EngineBuilder(client, drives, CODES, POOL, memory)
            .meters(meters)
            .clock(clock)
            .hedging(hedging)
            .removalsMax(1000)
            .build(config);
    store = engine.store();
    folds = engine.folds();
    cleaner = engine.context().cleaner();
    suspects = engine.context().suspects();
    losses = engine.losses();
    mover = engine.newVersionMover();
    parity = engine.newParityScrub(new ByteRateLimiter(0), NEVER, surroundings.random());
    for (int i = 0; i < REPAIRERS; i++) {
      repairers.add(engine.newRepairer(RepairRates.unbounded(), REPAIR));
    }
    collector = new GarbageCollector(client, drives, store::oldestMs, clock, GARBAGE, meters);
  }

  /**
   * @param windowStripes so many are sent at once: of few, changes have many pieces
   */
  static EngineConfig config(Profile profile, int windowStripes) {
    int stripe = profile.stripeBytes();
    return new EngineConfig(windowStripes * stripe, 2, 7L * stripe, NEVER);
  }

  /** Whether what was referenced then, by the process's own clock, cannot have been removed yet. */
  boolean isInGrace(long lookedUpMs) {
    return clock.millis() - lookedUpMs < surroundings.grace().toMillis();
  }

  long nowMs() {
    return clock.millis();
  }

  boolean isDead() {
    return isDead;
  }

  /** From now on nothing that it does has any effect. */
  void die() {
    isDead = true;
  }

  /** What the calling thread submits from now on belongs to this. */
  void begin(Request request) {
    requests.put(Thread.currentThread(), request);
  }

  void end() {
    requests.remove(Thread.currentThread());
  }

  /** The model as it was when the calling thread last looked up an object. */
  BytesModel.State seen() {
    return requireNonNull(seen.get(Thread.currentThread()));
  }

  /** Whether all that blobs owe, or lost with drives, is there again. */
  static boolean isWhole(MetadataClient metadata) throws MetadataUnavailableException {
    return metadata.debts().isEmpty()
        && metadata.registry().getDrivesList().stream().noneMatch(DriveRow::getUnsettled);
  }

  /** How often repair came to this. */
  double repairs(String what) {
    return count("ashlar.repair." + what);
  }

  double count(String meter) {
    return meters.get(meter).counter().count();
  }

  /** How often a version got other blobs. */
  int moves() {
    return moves;
  }

  /** Reads that wait look whether they are late by now. */
  void wakeReads() {
    hedging.wakeAll();
  }

  /** What clients left open. */
  void abortUploads() throws Exception {
    UploadsQuery all = new UploadsQuery(SimulatedClient.BUCKET, "", "", "", "", 1000);
    for (UploadRow upload : client.uploads(all).uploads()) {
      SimulatedUpload.abort(this, upload);
    }
  }

  /** That a shard may be lost. */
  void suspect(ShardId shard, ByteRange range, ShardFault fault) {
    suspects.add(new Suspect(shard, range, fault));
  }

  /** Each shard that metadata knows is looked for. */
  void suspectAll() throws MetadataUnavailableException {
    int groups = client.placement().slotDrives().size();
    for (int pg = 0; pg < groups; pg++) {
      for (BlobRow row : client.blobsOfPlacementGroup(pg, null, 1000)) {
        StripeLayout layout = BlobRows.layout(row);
        for (int slot = 0; slot < layout.profile().shards(); slot++) {
          if (layout.shardLength(slot) > 0) {
            suspect(
                ShardId.of(row, slot),
                new ByteRange(0, layout.shardLength(slot)),
                ShardFault.MISSING);
          }
        }
      }
    }
  }

  void foldAll() throws Exception {
    folds.sweep();
    folds.foldNow(client.unfolded(null, 1000).stream().map(row -> BlobId.of(row.getId())).toList());
  }

  /** Until nothing is owed any more. */
  void repairAll() throws Exception {
    for (int round = 0; !isWhole(client); round++) {
      if (round == REPAIR_ROUNDS_MAX) {
        throw new AssertionError("stays owed: " + client.debts());
      }
      repairers.getFirst().round();
      cleaner.retry();
    }
  }

  /** Gives what the key has now another storage class and the blobs of its profile. */
  Outcome move(String key, String storageClass) throws Exception {
    return mover.move(
        new VersionMover.Order(
            SimulatedClient.BUCKET, key, VersionRef.getDefaultInstance(), 0, storageClass),
        MOVES);
  }

  /**
   * Until there is no garbage any more.
   *
   * @param aWhile lets time pass
   */
  void collectAll(Runnable aWhile) throws Exception {
    do {
      aWhile.run();
      collector.collect();
    } while (!client.garbage(Long.MAX_VALUE, null, 1).isEmpty());
  }

  private @Nullable Object call(Method method, Object @Nullable [] arguments) throws Throwable {
    switch (method.getName()) {
      case "session", "placement", "drives" -> {
        return invoke(method, arguments);
      }
      case "submit" -> {
        return submit((Command.Builder) requireNonNull(arguments)[0]);
      }
      default -> {
        SteppedThreads.pause();
        checkAlive();
        Object result = invoke(method, arguments);
        if (method.getName().equals("object")) {
          seen.put(
              Thread.currentThread(),
              surroundings.model().state((String) requireNonNull(arguments)[1]));
        }
        SteppedThreads.pause();
        return result;
      }
    }
  }

  private @Nullable Object invoke(Method method, Object @Nullable [] arguments) throws Throwable {
    try {
      return method.invoke(metadata, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private void checkAlive() throws MetadataUnavailableException {
    if (isDead) {
      throw MetadataUnavailableException.refused("the process is dead");
    }
  }

  private CommandResult submit(Command.Builder command) throws MetadataUnavailableException {
    SteppedThreads.pause();
    checkAlive();
    Request request = requests.get(Thread.currentThread());
    Fate fate = surroundings.fate(command);
    if (isDead) {
      throw unknown("the process died before it");
    }
    CommandResult result =
        switch (fate) {
          case REFUSED -> throw MetadataUnavailableException.refused("refused");
          case LOST -> throw unknown("lost");
          case LATE -> {
            Command.Builder copy = command.clone();
            surroundings.threads().start("late", () -> applyLate(copy, request));
            throw unknown("late");
          }
          case ANSWERED, ANSWER_LOST -> apply(command, request);
        };
    surroundings.committed(command);
    SteppedThreads.pause();
    if (fate == Fate.ANSWER_LOST || isDead) {
      throw unknown("the answer is lost");
    }
    return result;
  }

  private void applyLate(Command.Builder command, @Nullable Request request)
      throws MetadataUnavailableException {
    for (int i = 0; i < 20 && !isDead; i++) {
      SteppedThreads.pause();
    }
    apply(command, request);
  }

  private CommandResult apply(Command.Builder command, @Nullable Request request)
      throws MetadataUnavailableException {
    CommandResult result = metadata.submit(command);
    boolean isOfClient =
        command.hasPutObject()
            || command.hasModifyObject()
            || command.hasCopyObject()
            || command.hasCopyPart()
            || command.hasCompleteUpload()
            || command.hasDeleteObjects();
    if (isOfClient && request != null && result.getCode() == ResultCode.OK) {
      request.commits++;
      request.effect.accept(surroundings.model());
    }
    if (command.hasMoveObject() && result.getCode() == ResultCode.OK) {
      moves++;
      surroundings.model().move(command.getMoveObject().getKey());
    }
    return result;
  }

  private static MetadataUnavailableException unknown(String why) {
    return MetadataUnavailableException.unknown(why, new IllegalStateException(why));
  }
}
