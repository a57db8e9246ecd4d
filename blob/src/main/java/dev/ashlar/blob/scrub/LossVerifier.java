package dev.ashlar.blob.scrub;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.HedgeConfig;
import dev.ashlar.blob.context.Hedging;
import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.blob.context.SuspectShardQueue;
import dev.ashlar.blob.context.SuspectShardQueue.Suspect;
import dev.ashlar.blob.read.ShardProbe;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.LostShard;
import dev.ashlar.protocol.message.RecordLostShards;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.protocol.process.BackgroundThread;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks again at shards that seemed lost, and has those owed that are, so that repair makes them
 * anew. What a read saw proves nothing: the shard may have been folded further, rebuilt elsewhere
 * or deleted meanwhile. So the blob's row is taken anew, the drive is asked for the bytes as that
 * row says, and the command counts only if the row still says the same of this shard, and it is
 * still to be on that drive, in the same life. One thread at a time.
 */
public final class LossVerifier implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LossVerifier.class);

  /** Between two looks: a drive of which nothing can be read must not flood metadata. */
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** Without metadata: an election takes seconds. */
  private static final Duration UNAVAILABLE_PAUSE = Duration.ofSeconds(1);

  /** When those are looked at again that were undecided: a drive hangs for less, or fails. */
  private static final Duration UNDECIDED_PAUSE = Duration.ofMinutes(1);

  private final Dependencies means;
  private final SuspectShardQueue suspects;
  private final ShardProbe probe;
  private final Counter owed;
  private final Counter refuted;
  private @Nullable BackgroundThread worker;

  /** What came of a look. */
  public enum Outcome {
    /** The shard is owed from now on. */
    OWED,
    /** It is there, owed already, or of a blob that is not. */
    REFUTED,
    /** The drive or metadata cannot tell now, or as many shards are owed as may be. */
    UNDECIDED
  }

  /**
   * What it works with.
   *
   * @param drives the drive of this id, or null when it cannot be reached
   * @param memory into which it reads
   * @param driveDeadline how long it waits for a drive
   */
  public record Dependencies(
      MetadataClient metadata,
      Function<UUID, @Nullable ShardStore> drives,
      MemoryBudget memory,
      Duration driveDeadline) {
    static Dependencies of(EngineContext engine) {
      return new Dependencies(
          engine.metadata(), engine.drives(), engine.memory(), engine.config().driveDeadline());
    }
  }

  /** Of what an engine's reads meet. */
  public LossVerifier(EngineContext engine, MeterRegistry meters) {
    this(Dependencies.of(engine), engine.suspects(), "reads", meters);
  }

  /**
   * @param metBy what meets them, for those who watch
   */
  public LossVerifier(
      Dependencies means, SuspectShardQueue suspects, String metBy, MeterRegistry meters) {
    this.means = means;
    this.suspects = suspects;
    this.probe =
        new ShardProbe(new Hedging(HedgeConfig.OFF, System::nanoTime), means.driveDeadline());
    this.owed =
        Counter.builder("ashlar.repair.lost.shards")
            .description("Shards found damaged or missing on drives that are well, and owed since")
            .register(meters);
    this.refuted =
        Counter.builder("ashlar.repair.refuted.shards")
            .description("Shards that seemed lost and were not when they were looked at again")
            .register(meters);
    Gauge.builder("ashlar.repair.suspect.shards", suspects, SuspectShardQueue::unsettled)
        .tag("by", metBy)
        .description("Shards that seem lost, until a second look could tell")
        .register(meters);
  }

  /** Looks at what comes until it is closed. */
  public void start() {
    worker = BackgroundThread.start("loss-reports", this::run);
  }

  private void run() throws InterruptedException {
    long recalledNanos = System.nanoTime();
    while (true) {
      suspects.await(UNDECIDED_PAUSE);
      if (System.nanoTime() - recalledNanos >= UNDECIDED_PAUSE.toNanos()) {
        suspects.recall();
        recalledNanos = System.nanoTime();
      }
      try {
        lookAtNext();
      } catch (MetadataUnavailableException e) {
        LOG.debug("a loss is not reported yet: {}", e.getMessage());
        Thread.sleep(UNAVAILABLE_PAUSE);
      } catch (RuntimeException e) {
        LOG.warn("a loss is not reported yet", e);
      }
      TimeUnit.NANOSECONDS.sleep(PAUSE_NANOS);
    }
  }

  /**
   * Looks once at all that are here by now.
   *
   * @throws MetadataUnavailableException at the first for which metadata is needed: all stay here
   */
  public void lookAtAll() throws MetadataUnavailableException, InterruptedException {
    suspects.recall();
    while (lookAtNext()) {
      // one after the other
    }
  }

  private boolean lookAtNext() throws MetadataUnavailableException, InterruptedException {
    Suspect suspect = suspects.take();
    if (suspect == null) {
      return false;
    }
    SuspectShardQueue.Fate fate =
        SuspectShardQueue.Fate.POSTPONED; // also when something goes wrong
    try {
      fate =
          look(suspect) == Outcome.UNDECIDED
              ? SuspectShardQueue.Fate.POSTPONED
              : SuspectShardQueue.Fate.SETTLED;
    } catch (MetadataUnavailableException e) {
      fate = SuspectShardQueue.Fate.NOT_LOOKED_AT;
      throw e;
    } finally {
      suspects.giveBack(suspect, fate);
    }
    return true;
  }

  /** Looks at a shard again, and has it owed if it is lost. */
  public Outcome look(Suspect suspect) throws MetadataUnavailableException, InterruptedException {
    Outcome outcome;
    try (RequestMemory memory = new RequestMemory(means.memory())) {
      outcome = look(suspect, memory);
    } catch (DataUnavailableException e) {
      LOG.debug("{} is not looked at now: {}", suspect, e.getMessage());
      outcome = Outcome.UNDECIDED;
    }
    (outcome == Outcome.OWED ? owed : refuted).increment(outcome == Outcome.UNDECIDED ? 0 : 1);
    return outcome;
  }

  private Outcome look(Suspect suspect, RequestMemory memory)
      throws MetadataUnavailableException, DataUnavailableException, InterruptedException {
    int slot = suspect.shard().slot();
    List<BlobRow> rows = means.metadata().blobs(List.of(suspect.shard().blob()));
    BlobRow row = rows.isEmpty() ? BlobRow.getDefaultInstance() : rows.getFirst();
    if (row.getReferences() == 0
        || slot >= row.getProfile().getDataShards() + row.getProfile().getParityShards()
        || row.getDebtSlotsList().contains(slot)
        || !ShardId.of(row, slot).equals(suspect.shard())) {
      return Outcome.REFUTED;
    }
    ByteRange range = present(suspect.range(), BlobRows.layout(row).shardLength(slot));
    if (range.isEmpty()) {
      return Outcome.REFUTED;
    }
    ShardStore store = store(row, slot);
    if (store == null || !isWell(store)) {
      return Outcome.UNDECIDED;
    }
    DriveId drive = store.drive();
    return switch (probe.look(row, slot, store, range, memory)) {
      case WHOLE -> Outcome.REFUTED;
      case LATER, UNKNOWN -> Outcome.UNDECIDED;
      case NOT ->
          isWell(store) && store.drive().equals(drive)
              ? owe(suspect, row, drive)
              : Outcome.UNDECIDED;
    };
  }

  /** The drive that has the slot's shard; null when it cannot be reached. */
  private @Nullable ShardStore store(BlobRow row, int slot) {
    return means.drives().apply(means.metadata().placement(row.getEpoch()).location(row, slot));
  }

  private static ByteRange present(ByteRange range, long shardLength) {
    long end = Math.min(range.end(), shardLength);
    return end <= range.offset()
        ? ByteRange.EMPTY
        : new ByteRange(range.offset(), end - range.offset());
  }

  /** A drive that fails as a whole is another matter: it gets a new life, and all of it is owed. */
  private static boolean isWell(ShardStore store) {
    ShardFault refusal = store.writeRefusal();
    return refusal == null || refusal == ShardFault.FULL || refusal == ShardFault.OVERLOADED;
  }

  /** Has a shard owed that is as it was written, and contradicts all others. */
  Outcome owe(BlobRow row, int slot) throws MetadataUnavailableException {
    ShardStore store = store(row, slot);
    Outcome outcome =
        store == null || !isWell(store)
            ? Outcome.UNDECIDED
            : owe(
                new Suspect(ShardId.of(row, slot), ByteRange.EMPTY, ShardFault.CORRUPT),
                row,
                store.drive());
    owed.increment(outcome == Outcome.OWED ? 1 : 0);
    return outcome;
  }

  private Outcome owe(Suspect suspect, BlobRow row, DriveId drive)
      throws MetadataUnavailableException {
    int slot = suspect.shard().slot();
    LostShard.Builder lost =
        LostShard.newBuilder()
            .setDrive(BlobRows.ack(slot, drive))
            .setName(suspect.shard().blob().toMessage())
            .setLastChange(BlobRows.view(row, slot).lastChange());
    RecordLostShards.Builder owe =
        RecordLostShards.newBuilder().setBlob(row.getId()).addShards(lost);
    ResultCode code =
        means.metadata().submit(Command.newBuilder().setRecordLostShards(owe)).getCode();
    if (code != ResultCode.OK) {
      LOG.debug("{} is not owed: {}", suspect.shard(), code);
      return code == ResultCode.CONDITIONAL_CONFLICT ? Outcome.REFUTED : Outcome.UNDECIDED;
    }
    LOG.warn(
        "slot {} of {} is {} at byte {} on drive {}: it is owed from now on",
        slot,
        BlobId.of(row.getId()),
        suspect.fault(),
        suspect.range().offset(),
        drive);
    return Outcome.OWED;
  }

  /** Ends the background thread. */
  @Override
  public void close() {
    BackgroundThread running = worker;
    if (running != null) {
      running.close();
    }
  }
}
