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
 * Brings back the shards that a blob owes. What the drive still has, whole and as the blob's row
 * says, is taken as it is; the rest is rebuilt from other drives and written under a name that no
 * try had before, so that it is neither mixed with what is left of earlier ones nor overtaken by
 * their deletion. It counts from the one command on that finds the slot as it was: otherwise it is
 * removed. So any number of processes may repair the same blob. For many threads.
 */
public final class BlobRepair {
  private static final Logger LOG = LoggerFactory.getLogger(BlobRepair.class);

  private final EngineContext engine;
  private final RepairRates paces;
  private final RepairMetrics metrics;
  private final ShardProbe probe;

  /** What became of a blob. */
  public enum Outcome {
    /** It owes less than before, or nothing. */
    REPAIRED,
    /** Something else had changed it. */
    CONFLICT,
    /** The drives that it takes are not all there, or have something else to do. */
    UNAVAILABLE
  }

  /**
   * @param engine without hedging: repair has time
   */
  public BlobRepair(EngineContext engine, RepairRates paces, RepairMetrics metrics) {
    this.engine = engine;
    this.paces = paces;
    this.metrics = metrics;
    this.probe = new ShardProbe(engine.hedging(), engine.config().driveDeadline());
  }

  /** Brings back what the blob owes, as far as that is possible now. */
  public Outcome repair(BlobId id) throws MetadataUnavailableException, InterruptedException {
    List<BlobRow> found = engine.metadata().blobs(List.of(id));
    if (found.isEmpty()) {
      return Outcome.REPAIRED; // it has been removed
    }
    BlobRow row = found.getFirst();
    Set<Integer> slots = new TreeSet<>(row.getDebtSlotsList());
    StripeLayout layout = BlobRows.layout(row);
    row.getRelocatedShardsList().forEach(place -> slots.add(place.getSlot()));
    slots.removeIf(slot -> layout.shardLength(slot) == 0);
    if (row.getReferences() == 0 || slots.isEmpty()) {
      return Outcome.REPAIRED; // by somebody else, or it has become garbage
    }
    PlacementMap placement = engine.metadata().placement(row.getEpoch());
    List<RepairTarget> owed = new ArrayList<>();
    List<RepairTarget> moving = new ArrayList<>();
    for (int slot : slots) {
      ShardStore store = engine.drives().apply(placement.drive(row.getPg(), slot));
      if (store != null && store.isWritable()) {
        ShardStore source = engine.drives().apply(placement.location(row, slot));
        RepairTarget target = new RepairTarget(row, slot, store, source, ShardId.name(row, slot));
        (row.getDebtSlotsList().contains(slot) ? owed : moving).add(target);
      }
    }
    if (!moving.stream().allMatch(RepairTarget::isElsewhere)) {
      return note(row); // a slot is again where its shard is
    }
    List<RepairTarget> possible = new ArrayList<>(owed);
    possible.addAll(moving);
    keepSpread(row, placement, possible);
    owed.retainAll(possible);
    moving.retainAll(possible);
    return possible.isEmpty() ? Outcome.UNAVAILABLE : repair(row, owed, moving);
  }

  /** Leaves out what would come to a drive that has, and keeps, another shard of the blob. */
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

  /** Has the row say what it means. */
  private Outcome note(BlobRow row) throws MetadataUnavailableException {
    RecordDebts.Builder note = RecordDebts.newBuilder().addBlobs(row.getId());
    engine.metadata().submit(Command.newBuilder().setRecordDebts(note));
    return Outcome.REPAIRED;
  }

  private Outcome repair(BlobRow row, List<RepairTarget> owed, List<RepairTarget> moving)
      throws MetadataUnavailableException, InterruptedException {
    List<RepairTarget> found = new ArrayList<>();
    List<RepairTarget> rebuilt = new ArrayList<>();
    List<RepairTarget> made = new ArrayList<>();
    boolean isDecided = false;
    try (RequestMemory memory = new RequestMemory(engine.memory())) {
      for (RepairTarget target : owed) {
        switch (BlobRows.isTouched(row, target.slot()) ? Present.NOT : look(row, target, memory)) {
          case WHOLE -> found.add(target);
          case NOT, LATER -> rebuilt.add(renamed(row, target));
          case UNKNOWN -> {} // the next time
        }
      }
      if (found.isEmpty()) { // else the next time, when it may take those that were found
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
      Outcome outcome = commit(row, found, made);
      isDecided = true;
      return outcome;
    } catch (DataUnavailableException e) {
      LOG.debug("{} is not repaired now: {}", BlobId.of(row.getId()), e.getMessage());
      return e.reason() == Reason.CONFLICT ? Outcome.CONFLICT : Outcome.UNAVAILABLE;
    } catch (MetadataUnavailableException e) {
      isDecided = !e.isRefused(); // it may count yet
      throw e;
    } finally {
      if (!isDecided) {
        made.forEach(target -> target.discard(engine.cleaner()));
      }
    }
  }

  private RepairTarget renamed(BlobRow row, RepairTarget target) {
    return new RepairTarget(
        row, target.slot(), target.store(), target.source(), engine.ids().nextBlob());
  }

  /**
   * Copies a shard from the drive that has it. What is on a drive that is away is waited for,
   * unless that was taken out.
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
      ByteRateLimiter pace = isOut ? paces.lost() : paces.moves();
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
      throw MemoryBudget.usedUp();
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
      paces.lost().take(range.length()); // afterwards: of most shards there is nothing
    }
    target.acknowledge(target.store().drive()); // in the same life as before all of it was read
    return target.hasFailed() ? Present.NOT : Present.WHOLE;
  }

  private void rebuild(BlobRow row, List<RepairTarget> targets, RequestMemory memory)
      throws DataUnavailableException, InterruptedException {
    ShardRebuild rebuild = new ShardRebuild(engine, row, targets, memory, paces.lost());
    try {
      rebuild.run();
    } finally {
      metrics.rebuiltBytes.increment((double) rebuild.rebuiltBytes());
    }
  }

  private Outcome commit(BlobRow row, List<RepairTarget> found, List<RepairTarget> made)
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
      LOG.debug("repair of {}: {}", BlobId.of(row.getId()), code);
      made.forEach(target -> target.discard(engine.cleaner()));
      return Outcome.CONFLICT;
    }
    metrics.foundShards.increment(found.size());
    long moved =
        done.stream().filter(target -> !row.getDebtSlotsList().contains(target.slot())).count();
    metrics.movedShards.increment((double) moved);
    metrics.rebuiltShards.increment((double) (done.size() - found.size() - moved));
    done.forEach(target -> target.removeOld(engine.cleaner()));
    return Outcome.REPAIRED;
  }

  private ResultCode submit(RepairBlob.Builder command) throws MetadataUnavailableException {
    ResultCode code =
        engine.metadata().submit(Command.newBuilder().setRepairBlob(command)).getCode();
    if (code == ResultCode.STALE_REQUEST) {
      throw MetadataUnavailableException.unknown(
          "repair", new IllegalStateException("its answer is forgotten"));
    }
    return code;
  }
}
