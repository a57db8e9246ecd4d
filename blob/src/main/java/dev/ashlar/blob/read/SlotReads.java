package dev.ashlar.blob.read;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.Hedging;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.blob.context.SuspectShardQueue.Suspect;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ChangeHolders;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The reads of a window, one per slot, all in the state of one row of the blob. Used by one thread.
 */
final class SlotReads {
  private final EngineContext engine;
  private final Profile profile;
  private final BlobId id;
  // The drives of the slots' shards, by the row.
  private final UUID[] drives;
  private final Set<UUID> silentDrives;
  private final RequestMemory memory;
  // Per slot the read that has arrived or is in flight; a faulty slot is not asked again.
  private final @Nullable ShardRead[] reads;
  private final boolean[] faulty;
  private BlobRow row;
  private StripeLayout layout;
  private boolean overloaded;
  private boolean hasTriedDebts;

  enum State {
    ARRIVED,
    UNDER_WAY,
    /** In flight for longer than its drive usually takes. */
    LATE,
    LOST
  }

  /** A drive no longer has the requested revision. */
  static final class RevisionGoneException extends Exception {
    private static final long serialVersionUID = 1;

    RevisionGoneException() {
      super("revision gone", null, false, false);
    }
  }

  SlotReads(EngineContext engine, BlobRow row, Set<UUID> silentDrives, RequestMemory memory) {
    this.engine = engine;
    this.row = row;
    this.layout = BlobRows.layout(row);
    this.profile = layout.profile();
    this.id = BlobId.of(row.getId());
    this.drives = new UUID[profile.shards()];
    this.silentDrives = silentDrives;
    this.memory = memory;
    this.reads = new ShardRead[profile.shards()];
    this.faulty = new boolean[profile.shards()];
    findDrives();
  }

  /** Drops all reads and continues with another row of the blob. */
  void restart(BlobRow newRow) {
    dropAll();
    row = newRow;
    layout = BlobRows.layout(newRow);
    findDrives();
  }

  private void findDrives() {
    PlacementMap placement = engine.metadata().placement(row.getEpoch());
    for (int slot = 0; slot < drives.length; slot++) {
      drives[slot] = placement.location(row, slot);
      faulty[slot] = isDebt(slot) || isUnreachable(slot);
    }
    hasTriedDebts = false;
  }

  private boolean isDebt(int slot) {
    return row.getDebtSlotsList().contains(slot);
  }

  private boolean isUnreachable(int slot) {
    return store(slot) == null || silentDrives.contains(drives[slot]);
  }

  /**
   * Allows reads from slots that are debts, as a last resort: often only a block of the shard is
   * damaged, or the drive kept its data in a new incarnation. A drive delivers only the exact state
   * that is read; but it may have only the first pieces of a change that it missed, and cannot
   * tell.
   *
   * @return whether there are any such slots that were not asked before
   */
  boolean tryDebts() {
    boolean isMore = false;
    for (int slot : hasTriedDebts ? List.<Integer>of() : row.getDebtSlotsList()) {
      boolean mayHelp = !isUnreachable(slot) && !ChangeHolders.mayBePartial(row, slot);
      faulty[slot] = !mayHelp;
      isMore |= mayHelp;
    }
    hasTriedDebts = true;
    return isMore;
  }

  BlobRow row() {
    return row;
  }

  StripeLayout layout() {
    return layout;
  }

  Profile profile() {
    return profile;
  }

  boolean isFaulty(int slot) {
    return faulty[slot];
  }

  /** The part of the range in which this slot's shard has bytes; beyond it, zeros count. */
  ByteRange present(int slot, ByteRange range) {
    return BlobRows.present(layout, slot, range);
  }

  /** Starts a read that is needed, replacing any earlier read of the slot. */
  void ask(int slot, ByteRange shardRange) {
    drop(slot);
    reads[slot] = send(slot, shardRange);
    if (reads[slot] != null) {
      engine.hedging().earn();
    }
  }

  /** Starts a read from the slot's drive; null if that is not possible. */
  @Nullable ShardRead send(int slot, ByteRange shardRange) {
    ShardStore store = faulty[slot] ? null : store(slot);
    if (store == null) {
      faulty[slot] = true;
      return null;
    }
    ShardRead read = newRead(slot, shardRange);
    ShardView view = BlobRows.view(row, slot);
    ShardId shard = ShardId.of(row, slot);
    int length = (int) shardRange.length();
    ShardData cached = store.readCached(shard, view, shardRange.offset(), length);
    if (cached == null) {
      store.read(shard, view, shardRange.offset(), length, read);
    } else {
      read.arrived(cached); // tells nothing about how slow the drive is
    }
    return read;
  }

  private ShardRead newRead(int slot, ByteRange shardRange) {
    Hedging hedging = engine.hedging();
    return new ShardRead(shardRange, hedging, hedging.drive(drives[slot]));
  }

  boolean covers(int slot, ByteRange wanted) {
    ShardRead read = reads[slot];
    return read != null && read.covers(wanted);
  }

  /**
   * Waits for the read of this slot, if any.
   *
   * @param orLate only until it is late
   */
  State await(int slot, boolean orLate) throws InterruptedException, RevisionGoneException {
    ShardRead read = reads[slot];
    if (read != null) {
      read.await(deadlineNanos(slot), orLate);
    }
    return look(slot);
  }

  /**
   * The state of the slot's read. A lost slot becomes faulty. So does one of a blob from a backup,
   * if it was changed afterwards: no later row has the change.
   */
  State look(int slot) throws RevisionGoneException {
    ShardRead read = reads[slot];
    if (read == null) {
      return State.LOST;
    }
    switch (read.progress(deadlineNanos(slot))) {
      case ARRIVED -> {
        return State.ARRIVED;
      }
      case IN_FLIGHT -> {
        return read.isLate() ? State.LATE : State.UNDER_WAY;
      }
      case FAILED -> {}
    }
    if (read.fault() == ShardFault.REVISION_GONE && !row.getFrozen()) {
      throw new RevisionGoneException();
    }
    faulty[slot] = true;
    if (ShardProbe.isLoss(read.fault()) && !isDebt(slot)) {
      engine.suspects().add(new Suspect(ShardId.of(row, slot), read.range(), read.fault()));
    }
    if (read.fault() == ShardFault.UNAVAILABLE) {
      silentDrives.add(drives[slot]);
    }
    overloaded |= read.fault() == ShardFault.OVERLOADED;
    drop(slot);
    return State.LOST;
  }

  private long deadlineNanos(int slot) {
    boolean isSilent = silentDrives.contains(drives[slot]);
    return isSilent ? 0 : engine.config().driveDeadline().toNanos();
  }

  boolean hasArrived(int slot) {
    ShardRead read = reads[slot];
    return read != null && read.hasArrived();
  }

  boolean isUnderWay(int slot) {
    ShardRead read = reads[slot];
    return read != null && !read.isDone();
  }

  int count() {
    int count = 0;
    for (ShardRead read : reads) {
      count += read == null ? 0 : 1;
    }
    return count;
  }

  /** The slot's read, which has arrived. */
  ShardRead arrivedRead(int slot) {
    ShardRead read = reads[slot];
    if (read == null) {
      throw new IllegalStateException("slot " + slot + " of " + id + " was not read");
    }
    return read;
  }

  /** Replaces the slot's read by bytes rebuilt from other slots. */
  void replace(int slot, ByteRange range, ShardData rebuilt) {
    ShardRead read = newRead(slot, range);
    read.arrived(rebuilt);
    replace(slot, read);
  }

  void replace(int slot, ShardRead other) {
    drop(slot);
    reads[slot] = other;
  }

  /** Removes and returns the slot's read, to replace another one. */
  ShardRead take(int slot) {
    ShardRead read = arrivedRead(slot);
    reads[slot] = null;
    return read;
  }

  void drop(int slot) {
    ShardRead read = reads[slot];
    if (read != null) {
      reads[slot] = null;
      read.abandon(memory);
    }
  }

  void dropAll() {
    for (int slot = 0; slot < reads.length; slot++) {
      drop(slot);
    }
  }

  /**
   * The reason why too few shards can be read.
   *
   * @throws RevisionGoneException if the row has changed since: shards may have moved
   */
  DataUnavailableException unavailable() throws RevisionGoneException {
    if (overloaded) {
      return new DataUnavailableException(Reason.OVERLOADED, "drive queues are full; blob " + id);
    }
    try {
      List<BlobRow> rows = SliceRows.of(engine.metadata(), List.of(id));
      if (rows.isEmpty() || rows.getFirst().getReferences() == 0) {
        return new DataUnavailableException(Reason.GONE, "blob " + id + " was removed");
      }
      if (rows.getFirst().getSettled() > row.getSettled()) {
        throw new RevisionGoneException();
      }
    } catch (DataUnavailableException e) {
      return e; // metadata is unavailable
    }
    return new DataUnavailableException(
        Reason.TOO_FEW_DRIVES,
        "fewer than " + profile.dataShards() + " shards of blob " + id + " can be read");
  }

  private @Nullable ShardStore store(int slot) {
    return engine.drives().apply(drives[slot]);
  }
}
