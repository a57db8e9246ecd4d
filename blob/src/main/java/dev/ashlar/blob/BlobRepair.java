package dev.ashlar.blob;

import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.ShardProbe.Present;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.RepairBlob;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
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

  private final Engine engine;
  private final Supplier<BlobId> names;
  private final RepairPace pace;
  private final RepairMetrics metrics;
  private final ShardProbe probe;
  // What short and absent strips count as; never written to.
  private final ByteBuffer zeros;

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
   * @param names each different from all other ids of the session
   */
  public BlobRepair(Engine engine, Supplier<BlobId> names, RepairPace pace, RepairMetrics metrics) {
    this.engine = engine;
    this.names = names;
    this.pace = pace;
    this.metrics = metrics;
    this.probe = new ShardProbe(engine.hedging(), engine.config().driveDeadline());
    Profile profile = engine.config().profile();
    int stripes = EngineConfig.windowStripes(profile, engine.config().windowBytes());
    this.zeros = ByteBuffer.allocateDirect(stripes * profile.stripeUnit());
  }

  /** Brings back what the blob owes, as far as that is possible now. */
  public Outcome repair(BlobId id) throws MetadataUnavailableException, InterruptedException {
    List<BlobRow> found = engine.metadata().blobs(List.of(id));
    BlobRow row = found.isEmpty() ? BlobRow.getDefaultInstance() : found.getFirst();
    if (row.getReferences() == 0 || row.getDebtSlotsCount() == 0) {
      return Outcome.REPAIRED; // by somebody else, or it has become garbage
    }
    List<RepairTarget> targets = new ArrayList<>();
    for (int slot : row.getDebtSlotsList()) {
      ShardStore store = store(row, slot);
      if (store != null && store.isWritable()) {
        targets.add(new RepairTarget(row, slot, store, ShardId.name(row, slot)));
      }
    }
    return targets.isEmpty() ? Outcome.UNAVAILABLE : repair(row, targets);
  }

  private @Nullable ShardStore store(BlobRow row, int slot) {
    PlacementMap placement = engine.metadata().placement();
    UUID drive = placement.drive(row.getPg(), slot);
    return engine.drives().apply(drive);
  }

  private Outcome repair(BlobRow row, List<RepairTarget> owed)
      throws MetadataUnavailableException, InterruptedException {
    List<RepairTarget> found = new ArrayList<>();
    List<RepairTarget> rebuilt = new ArrayList<>();
    boolean isDecided = false;
    try (RequestMemory memory = new RequestMemory(engine.memory())) {
      for (RepairTarget target : owed) {
        switch (ShardViews.isTouched(row, target.slot())
            ? Present.NOT
            : look(row, target, memory)) {
          case WHOLE -> found.add(target);
          case NOT, LATER ->
              rebuilt.add(new RepairTarget(row, target.slot(), target.store(), names.get()));
          case UNKNOWN -> {} // the next time
        }
      }
      if (found.isEmpty() && !rebuilt.isEmpty()) {
        rebuild(row, rebuilt, memory);
      } else {
        rebuilt.clear(); // the next time, when it may take those that were found
      }
      Outcome outcome = commit(row, found, rebuilt);
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
        rebuilt.forEach(target -> target.discard(engine.leftovers()));
      }
    }
  }

  private Present look(BlobRow row, RepairTarget target, RequestMemory memory)
      throws DataUnavailableException, InterruptedException {
    long length = WindowRead.layout(row).shardLength(target.slot());
    target.acknowledge(target.store().drive());
    for (long from = 0; from < length; from += zeros.capacity()) {
      ByteRange range = new ByteRange(from, Math.min(zeros.capacity(), length - from));
      Present present = probe.look(row, target.slot(), target.store(), range, memory);
      if (present != Present.WHOLE) {
        return present;
      }
      pace.take(range.length()); // afterwards: of most shards there is nothing
    }
    target.acknowledge(target.store().drive()); // in the same life as before all of it was read
    return target.hasFailed() ? Present.NOT : Present.WHOLE;
  }

  private void rebuild(BlobRow row, List<RepairTarget> targets, RequestMemory memory)
      throws DataUnavailableException, InterruptedException {
    ShardRebuild rebuild = new ShardRebuild(engine, row, targets, memory, pace, zeros);
    try {
      rebuild.run();
    } finally {
      metrics.rebuiltBytes.increment((double) rebuild.rebuiltBytes());
    }
  }

  private Outcome commit(BlobRow row, List<RepairTarget> found, List<RepairTarget> rebuilt)
      throws MetadataUnavailableException {
    List<RepairTarget> done = new ArrayList<>(found);
    for (RepairTarget target : rebuilt) {
      if (target.hasFailed()) {
        target.discard(engine.leftovers());
      } else {
        done.add(target);
      }
    }
    if (done.isEmpty()) {
      return Outcome.UNAVAILABLE;
    }
    RepairBlob.Builder command = RepairBlob.newBuilder().setBlob(row.getId());
    done.forEach(target -> command.addShards(target.toMessage()));
    ResultCode code = submit(command);
    if (code != ResultCode.OK) {
      metrics.refused.increment();
      LOG.debug("repair of {}: {}", BlobId.of(row.getId()), code);
      rebuilt.forEach(target -> target.discard(engine.leftovers()));
      return Outcome.CONFLICT;
    }
    metrics.foundShards.increment(found.size());
    metrics.rebuiltShards.increment(done.size() - found.size());
    done.forEach(target -> target.removeOld(engine.leftovers()));
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
