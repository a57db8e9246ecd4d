package dev.ashlar.blob.repair;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.blob.read.ShardProbe;
import dev.ashlar.blob.read.ShardProbe.Present;
import dev.ashlar.blob.read.ShardRead;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.RecordDebts;
import dev.ashlar.protocol.message.RepairBlob;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.ShardId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repairs the debts of a blob. A shard that its drive still has, whole and in the state of the
 * blob's row, is kept. Other shards are rebuilt from other drives and written under a new name, so
 * that leftovers of earlier attempts and their deletion cannot interfere. A repair takes effect
 * with one command that requires an unchanged slot; otherwise the new shard is removed. So any
 * number of processes may repair the same blob. For many threads.
 *
 * <p>While metadata is restored from a backup and that is not accepted, shards are only added:
 * nothing is moved, and what a new shard replaces stays, because other metadata may need it.
 */
public final class BlobRepair {
  private static final Logger LOG = LoggerFactory.getLogger(BlobRepair.class);

  private final EngineContext engine;
  private final RepairRates rates;
  private final RepairMetrics metrics;
  private final ShardProbe probe;

  /** Result of a repair. */
  public enum Outcome {
    /** The blob has fewer debts than before, or none. */
    REPAIRED,
    /** The blob was changed concurrently. */
    CONFLICT,
    /** Required drives are unavailable or overloaded. */
    UNAVAILABLE
  }

  /**
   * @param engine without hedging
   */
  public BlobRepair(EngineContext engine, RepairRates rates, RepairMetrics metrics) {
    this.engine = engine;
    this.rates = rates;
    this.metrics = metrics;
    this.probe = new ShardProbe(engine.hedging(), engine.config().driveDeadline());
  }

  /** Repairs the debts of the blob, as far as that is possible now. */
  public Outcome repair(BlobId id) throws MetadataUnavailableException, InterruptedException {
    boolean isRestored = engine.metadata().registry().getRestored();
    List<BlobRow> found = engine.metadata().blobs(List.of(id));
    if (found.isEmpty()) {
      return Outcome.REPAIRED; // removed meanwhile
    }
    BlobRow row = found.getFirst();
    Set<Integer> slots = new TreeSet<>(row.getDebtSlotsList());
    StripeLayout layout = BlobRows.layout(row);
    row.getRelocatedShardsList().forEach(place -> slots.add(place.getSlot()));
    slots.removeIf(slot -> layout.shardLength(slot) == 0);
    if (row.getReferences() == 0 || slots.isEmpty()) {
      return Outcome.REPAIRED; // by another process, or the blob is garbage
    }
    PlacementMap placement = engine.metadata().placement(row.getEpoch());
    List<RepairTarget> debts = new ArrayList<>();
    List<RepairTarget> moving = new ArrayList<>();
    for (int slot : slots) {
      ShardStore store = engine.drives().apply(placement.drive(row.getPg(), slot));
      if (store != null && store.isWritable()) {
        ShardStore source = engine.drives().apply(placement.location(row, slot));
        RepairTarget target = new RepairTarget(row, slot, store, source, ShardId.name(row, slot));
        (row.getDebtSlotsList().contains(slot) ? debts : moving).add(target);
      }
    }
    if (!moving.stream().allMatch(RepairTarget::isElsewhere)) {
      return note(row); // a slot moved back to the drive of its shard
    }
    if (isRestored) {
      moving.clear();
    }
    List<RepairTarget> possible = new ArrayList<>(debts);
    possible.addAll(moving);
    keepSpread(row, placement, possible);
    debts.retainAll(possible);
    moving.retainAll(possible);
    return possible.isEmpty() ? Outcome.UNAVAILABLE : repair(row, debts, moving, isRestored);
  }

  /** Removes targets whose drive has, and keeps, another shard of the blob. */
  private static void keepSpread(BlobRow row, PlacementMap placement, List<RepairTarget> targets) {
    boolean isLeftOut = true;
    while (isLeftOut) {
      Set<Integer> made = new HashSet<>(row.getDebtSlotsList());
      targets.forEach(target -> made.add(target.slot()));
      StripeLayout layout = BlobRows.layout(row);
      Set<UUID> taken = new HashSet<>();
      for (int slot = 0; slot < layout.profile().shards(); slot++) {
        if (!made.contains(slot) && layout.shardLength(slot) > 0) {
          taken.add(placement.location(row, slot));
        }
      }
      isLeftOut = targets.removeIf(target -> taken.contains(target.store().drive().id()));
    }
  }

  /** Updates the debts and locations in the blob's row. */
  private Outcome note(BlobRow row) throws MetadataUnavailableException {
    RecordDebts.Builder note = RecordDebts.newBuilder().addBlobs(row.getId());
    engine.metadata().submit(Command.newBuilder().setRecordDebts(note));
    return Outcome.REPAIRED;
  }

  private Outcome repair(
      BlobRow row, List<RepairTarget> debts, List<RepairTarget> moving, boolean keepsOld)
      throws MetadataUnavailableException, InterruptedException {
    List<RepairTarget> found = new ArrayList<>();
    List<RepairTarget> rebuilt = new ArrayList<>();
    List<RepairTarget> made = new ArrayList<>();
    boolean isDecided = false;
    try (RequestMemory memory = new RequestMemory(engine.memory())) {
      for (RepairTarget target : debts) {
        switch (BlobRows.isTouched(row, target.slot()) ? Present.NOT : look(row, target, memory)) {
          case WHOLE -> found.add(target);
          case NOT, LATER -> rebuilt.add(renamed(row, target));
          case UNKNOWN -> {} // next time
        }
      }
      if (found.isEmpty()) { // otherwise next time, when it may read the shards that were found
        for (RepairTarget target : moving) {
          RepairTarget copy = renamed(row, target);
          made.add(copy);
          switch (copy(row, copy, memory)) {
            case WHOLE -> {}
            case NOT, LATER -> rebuilt.add(renamed(row, target));
            case UNKNOWN -> copy.giveUp();
          }
        }
        made.addAll(rebuilt);
        if (!rebuilt.isEmpty()) {
          rebuild(row, rebuilt, memory);
        }
      }
      Outcome outcome = commit(row, found, made, keepsOld);
      isDecided = true;
      return outcome;
    } catch (DataUnavailableException e) {
      LOG.debug("Cannot repair blob {} now: {}", BlobId.of(row.getId()), e.getMessage());
      return e.reason() == Reason.CONFLICT ? Outcome.CONFLICT : Outcome.UNAVAILABLE;
    } catch (MetadataUnavailableException e) {
      isDecided = !e.isRefused(); // the command may still take effect
      throw e;
    } finally {
      if (!isDecided) {
        made.forEach(target -> target.discard(engine.cleaner()));
      }
    }
  }

  private RepairTarget renamed(BlobRow row, RepairTarget target) {
    return new RepairTarget(
        row,
        target.slot(),
        target.store(),
        target.source(),
        engine.ids().nextBlob(BlobId.of(row.getId()).profile()));
  }

  /**
   * Copies a shard from its drive. A shard on an unreachable drive is left for later, unless the
   * drive is out.
   */
  private Present copy(BlobRow row, RepairTarget target, RequestMemory memory)
      throws DataUnavailableException, InterruptedException {
    ShardStore source = target.source();
    boolean isOut =
        row.getRelocatedShardsList().stream()
            .anyMatch(place -> place.getSlot() == target.slot() && place.getOut());
    for (ByteRange range : windows(row, target.slot())) {
      if (target.hasFailed()) {
        break;
      }
      ByteRateLimiter pace = isOut ? rates.lost() : rates.moves();
      Present present =
          source == null ? Present.UNKNOWN : copy(row, target, source, range, pace, memory);
      if (present != Present.WHOLE) {
        target.giveUp();
        return isOut && present == Present.UNKNOWN ? Present.NOT : present;
      }
    }
    return target.hasFailed() ? Present.UNKNOWN : Present.WHOLE;
  }

  /** The parts of a shard, in order, each of which is read and written as one step. */
  private List<ByteRange> windows(BlobRow row, int slot) {
    StripeLayout layout = BlobRows.layout(row);
    int window = engine.config().windowShardBytes(layout.profile());
    return ShardRebuild.windows(layout.shardLength(slot), window);
  }

  private Present copy(
      BlobRow row,
      RepairTarget target,
      ShardStore source,
      ByteRange range,
      ByteRateLimiter pace,
      RequestMemory memory)
      throws DataUnavailableException, InterruptedException {
    long bytes = SlabPool.slabBytes((int) range.length());
    if (!memory.tryHold(bytes)) {
      throw MemoryBudget.exhausted();
    }
    pace.take(range.length());
    ShardRead read = probe.ask(row, target.slot(), source, range);
    try {
      Present present = probe.await(read);
      if (present != Present.WHOLE) {
        return present;
      }
      CountDownLatch done = new CountDownLatch(1);
      target.write(range.offset(), read.bytes(range), read.data().slab(), done);
      if (!done.await(engine.config().driveDeadline().toNanos(), TimeUnit.NANOSECONDS)) {
        target.giveUpUnanswered();
      }
      metrics.movedBytes.increment(target.hasFailed() ? 0 : (double) range.length());
      return Present.WHOLE;
    } finally {
      read.abandon(memory);
      memory.giveBack(bytes);
    }
  }

  private Present look(BlobRow row, RepairTarget target, RequestMemory memory)
      throws DataUnavailableException, InterruptedException {
    target.acknowledge(target.store().drive());
    for (ByteRange range : windows(row, target.slot())) {
      Present present = probe.look(row, target.slot(), target.store(), range, memory);
      if (present != Present.WHOLE) {
        return present;
      }
      rates.lost().take(range.length()); // afterwards: most shards are absent
    }
    target.acknowledge(target.store().drive()); // still in the incarnation of the first read
    return target.hasFailed() ? Present.NOT : Present.WHOLE;
  }

  private void rebuild(BlobRow row, List<RepairTarget> targets, RequestMemory memory)
      throws DataUnavailableException, InterruptedException {
    ShardRebuild rebuild = new ShardRebuild(engine, row, targets, memory, rates.lost());
    try {
      rebuild.run();
    } finally {
      metrics.rebuiltBytes.increment((double) rebuild.rebuiltBytes());
    }
  }

  private Outcome commit(
      BlobRow row, List<RepairTarget> found, List<RepairTarget> made, boolean keepsOld)
      throws MetadataUnavailableException {
    List<RepairTarget> done = new ArrayList<>(found);
    for (RepairTarget target : made) {
      if (target.hasFailed()) {
        target.discard(engine.cleaner());
      } else {
        done.add(target);
      }
    }
    List<RepairTarget> all = List.copyOf(done);
    keepSpread(row, engine.metadata().placement(row.getEpoch()), done);
    made.stream()
        .filter(target -> all.contains(target) && !done.contains(target))
        .forEach(target -> target.discard(engine.cleaner()));
    if (done.isEmpty()) {
      return Outcome.UNAVAILABLE;
    }
    RepairBlob.Builder command = RepairBlob.newBuilder().setBlob(row.getId());
    done.forEach(target -> command.addShards(target.toMessage()));
    ResultCode code = submit(command);
    if (code != ResultCode.OK) {
      metrics.refused.increment();
      LOG.debug("Metadata refused the repair of blob {}: {}", BlobId.of(row.getId()), code);
      made.forEach(target -> target.discard(engine.cleaner()));
      return Outcome.CONFLICT;
    }
    metrics.foundShards.increment(found.size());
    long moved =
        done.stream().filter(target -> !row.getDebtSlotsList().contains(target.slot())).count();
    metrics.movedShards.increment((double) moved);
    metrics.rebuiltShards.increment((double) (done.size() - found.size() - moved));
    if (!keepsOld) {
      done.forEach(target -> target.removeOld(engine.cleaner()));
    }
    return Outcome.REPAIRED;
  }

  private ResultCode submit(RepairBlob.Builder command) throws MetadataUnavailableException {
    ResultCode code =
        engine.metadata().submit(Command.newBuilder().setRepairBlob(command)).getCode();
    if (code == ResultCode.STALE_REQUEST) {
      throw MetadataUnavailableException.unknown(
          "repair", new IllegalStateException("the answer is no longer known"));
    }
    return code;
  }
}
