package dev.ashlar.blob.scrub;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.context.BackgroundLoop;
import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.Hedging;
import dev.ashlar.blob.context.Hedging.HedgeConfig;
import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.blob.context.Meters;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.blob.context.SuspectShardQueue;
import dev.ashlar.blob.context.SuspectShardQueue.Suspect;
import dev.ashlar.blob.read.ShardProbe;
import dev.ashlar.blob.read.ShardProbe.Present;
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
import dev.ashlar.protocol.process.RateLimitedLog;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Verifies suspected losses, and records confirmed ones as debts, so that repair rebuilds the
 * shards. A failed read proves nothing: the shard may have been folded further, rebuilt elsewhere
 * or deleted since. So the blob's row is read again, the drive is asked for the bytes in the state
 * that this row names, and the command takes effect only if the row still says the same of the
 * shard and the drive is in the same incarnation. Used by one thread at a time.
 */
public final class LossVerifier implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LossVerifier.class);
  private final RateLimitedLog losses = new RateLimitedLog(LOG, Level.WARN);

  /** After each verification: a drive that cannot be read at all must not flood metadata. */
  private static final Duration PAUSE = Duration.ofMillis(10);

  /** While metadata is unavailable: an election takes seconds. */
  private static final Duration UNAVAILABLE_PAUSE = Duration.ofSeconds(1);

  /** After which undecided suspects are verified again: a drive that hangs for longer fails. */
  private static final Duration UNDECIDED_PAUSE = Duration.ofMinutes(1);

  private static final int READ_BYTES = 1 << 20;

  private final Dependencies means;
  private final SuspectShardQueue suspects;
  private final ShardProbe probe;
  private final Counter lostShards;
  private final Counter refuted;
  private final BackgroundLoop loop = new BackgroundLoop("loss-verifier", PAUSE);
  private long recalledNanos = System.nanoTime();

  /** Result of a verification. */
  public enum Outcome {
    /** The shard is lost, and recorded as a debt. */
    LOST,
    /** The shard is present or a debt already, or its blob is gone. */
    REFUTED,
    /** The drive or metadata cannot tell now, or the blob has as many debts as it may have. */
    UNDECIDED
  }

  /**
   * What a verifier works with.
   *
   * @param drives the drive of this id, or null when it cannot be reached
   * @param memory budget for the bytes that are read
   * @param driveDeadline after which a drive counts as not answering
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

  /** Verifies what an engine's reads found. */
  public LossVerifier(EngineContext engine, MeterRegistry meters) {
    this(Dependencies.of(engine), engine.suspects(), "reads", meters);
  }

  /**
   * @param metBy value of the metric tag that names the source of the suspects
   */
  public LossVerifier(
      Dependencies means, SuspectShardQueue suspects, String metBy, MeterRegistry meters) {
    this.means = means;
    this.suspects = suspects;
    this.probe =
        new ShardProbe(new Hedging(HedgeConfig.OFF, System::nanoTime), means.driveDeadline());
    this.lostShards =
        Meters.counter(
            meters,
            "ashlar.repair.lost.shards",
            "Shards found damaged or missing on healthy drives, and recorded as debts");
    this.refuted =
        Meters.counter(
            meters, "ashlar.repair.refuted.shards", "Suspected losses that a second look refuted");
    Meters.gauge(
        meters,
        "ashlar.repair.suspect.shards",
        "Suspected losses that are not yet verified",
        suspects,
        SuspectShardQueue::unsettled,
        "by",
        metBy);
  }

  /** Verifies suspects until it is closed. */
  public void start() {
    loop.start(this::nextRound);
  }

  private void nextRound() throws MetadataUnavailableException, InterruptedException {
    suspects.await(UNDECIDED_PAUSE);
    if (System.nanoTime() - recalledNanos >= UNDECIDED_PAUSE.toNanos()) {
      suspects.recall();
      recalledNanos = System.nanoTime();
    }
    try {
      verifyNext();
    } catch (MetadataUnavailableException e) {
      Thread.sleep(UNAVAILABLE_PAUSE);
      throw e;
    }
  }

  /**
   * Verifies each waiting suspect once.
   *
   * @throws MetadataUnavailableException at the first suspect that needs metadata; all stay queued
   */
  public void verifyAll() throws MetadataUnavailableException, InterruptedException {
    suspects.recall();
    while (verifyNext()) {
      // one after the other
    }
  }

  private boolean verifyNext() throws MetadataUnavailableException, InterruptedException {
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

  /** Verifies a suspect, and records a debt if the shard is lost. */
  public Outcome look(Suspect suspect) throws MetadataUnavailableException, InterruptedException {
    Outcome outcome;
    try (RequestMemory memory = new RequestMemory(means.memory())) {
      outcome = look(suspect, memory);
    } catch (DataUnavailableException e) {
      LOG.debug("Cannot verify {} now: {}", suspect, e.getMessage());
      outcome = Outcome.UNDECIDED;
    }
    (outcome == Outcome.LOST ? lostShards : refuted)
        .increment(outcome == Outcome.UNDECIDED ? 0 : 1);
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
    ByteRange range = BlobRows.present(BlobRows.layout(row), slot, suspect.range());
    if (range.isEmpty()) {
      return Outcome.REFUTED;
    }
    ShardStore store = store(row, slot);
    if (store == null || !isHealthy(store)) {
      return Outcome.UNDECIDED;
    }
    DriveId drive = store.drive();
    for (ByteRange part : parts(range)) {
      Present present = probe.look(row, slot, store, part, memory);
      if (present == Present.NOT && isHealthy(store) && store.drive().equals(drive)) {
        return recordDebt(new Suspect(suspect.shard(), part, suspect.fault()), row, drive);
      }
      if (present != Present.WHOLE) {
        return Outcome.UNDECIDED;
      }
    }
    return Outcome.REFUTED;
  }

  /** What is read at once, in order. */
  private static List<ByteRange> parts(ByteRange range) {
    List<ByteRange> parts = new ArrayList<>();
    for (long from = range.offset(); from < range.end(); from += READ_BYTES) {
      parts.add(new ByteRange(from, Math.min(READ_BYTES, range.end() - from)));
    }
    return parts;
  }

  /** The drive of the slot's shard; null if it cannot be reached. */
  private @Nullable ShardStore store(BlobRow row, int slot) {
    return means.drives().apply(means.metadata().placement(row.getEpoch()).location(row, slot));
  }

  /** A drive that fails as a whole gets a new incarnation, which makes all its shards debts. */
  private static boolean isHealthy(ShardStore store) {
    ShardFault refusal = store.writeRefusal();
    return refusal == null || refusal == ShardFault.FULL || refusal == ShardFault.OVERLOADED;
  }

  /** Records a debt for a shard that is intact but contradicts all others. */
  Outcome recordDebt(BlobRow row, int slot) throws MetadataUnavailableException {
    ShardStore store = store(row, slot);
    Outcome outcome =
        store == null || !isHealthy(store)
            ? Outcome.UNDECIDED
            : recordDebt(
                new Suspect(ShardId.of(row, slot), ByteRange.EMPTY, ShardFault.CORRUPT),
                row,
                store.drive());
    lostShards.increment(outcome == Outcome.LOST ? 1 : 0);
    return outcome;
  }

  private Outcome recordDebt(Suspect suspect, BlobRow row, DriveId drive)
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
      LOG.debug("Metadata refused a debt for {}: {}", suspect.shard(), code);
      return code == ResultCode.CONDITIONAL_CONFLICT ? Outcome.REFUTED : Outcome.UNDECIDED;
    }
    // A drive that comes back empty loses as many shards as it had.
    losses.log(
        "Slot %d of blob %s is %s at byte %d on drive %s; recorded as a debt for repair"
            .formatted(
                slot, BlobId.of(row.getId()), suspect.fault(), suspect.range().offset(), drive));
    return Outcome.LOST;
  }

  /** Ends the background thread. */
  @Override
  public void close() {
    loop.close();
  }
}
