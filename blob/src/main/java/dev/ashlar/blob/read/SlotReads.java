package dev.ashlar.blob.read;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.Hedging;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.blob.context.SuspectShardQueue.Suspect;
import dev.ashlar.protocol.client.MetadataUnavailableException;
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
 * What a window has read, or asked for, of each slot's shard, all as of one row of the blob. Used
 * by one thread.
 */
final class SlotReads {
  private final EngineContext engine;
  private final Profile profile;
  private final BlobId id;
  // That have the slots' shards, by the row.
  private final UUID[] drives;
  private final Set<UUID> silentDrives;
  private final RequestMemory memory;
  // Per slot the read that has arrived or is under way; a faulty slot is not asked again.
  private final @Nullable ShardRead[] reads;
  private final boolean[] faulty;
  private BlobRow row;
  private StripeLayout layout;
  private boolean overloaded;
  private boolean hasTriedOwed;

  /** Of a slot's read. */
  enum State {
    ARRIVED,
    UNDER_WAY,
    /** Under way for longer than its drive usually takes. */
    LATE,
    LOST
  }

  /** A drive no longer has the revision. */
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

  /** Forgets what was read and goes on with another row of the blob. */
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
      faulty[slot] = isOwed(slot) || isAway(slot);
    }
    hasTriedOwed = false;
  }

  private boolean isOwed(int slot) {
    return row.getDebtSlotsList().contains(slot);
  }

  private boolean isAway(int slot) {
    return store(slot) == null || silentDrives.contains(drives[slot]);
  }

  /**
   * Where too few others are left, slots that owe their shards may be asked, too: often a block of
   * it is damaged and the rest is not, or their drives began a new incarnation with all that they
   * had. A drive gives only what is exactly of the state that is read; but of a change that it
   * missed it may have the first pieces only, and cannot tell.
   *
   * @return whether there are any that were not asked before
   */
  boolean tryOwed() {
    boolean isMore = false;
    for (int slot : hasTriedOwed ? List.<Integer>of() : row.getDebtSlotsList()) {
      boolean isWorthIt = !isAway(slot) && !ChangeHolders.mayBePartial(row, slot);
      faulty[slot] = !isWorthIt;
      isMore |= isWorthIt;
    }
    hasTriedOwed = true;
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

  /** The part of the range in which this slot's shard has bytes; behind them it counts as zeros. */
  ByteRange present(int slot, ByteRange range) {
    long end = Math.min(range.end(), layout.shardLength(slot));
    return new ByteRange(range.offset(), Math.max(0, end - range.offset()));
  }

  /** Asks for what somebody needs, in the place of what was read before. */
  void ask(int slot, ByteRange shardRange) {
    drop(slot);
    reads[slot] = send(slot, shardRange);
    if (reads[slot] != null) {
      engine.hedging().earn();
    }
  }

  /** Asks the slot's drive; null if it cannot be asked. */
  @Nullable ShardRead send(int slot, ByteRange shardRange) {
    ShardStore store = faulty[slot] ? null : store(slot);
    if (store == null) {
      faulty[slot] = true;
      return null;
    }
    ShardRead read = newRead(slot, shardRange);
    ShardView view = BlobRows.view(row, slot);
    ShardId shard = ShardId.of(row, slot);
    store.read(shard, view, shardRange.offset(), (int) shardRange.length(), read);
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
   * Waits for what this slot was asked for, if anything.
   *
   * @param orLate not longer than until it is late
   */
  State await(int slot, boolean orLate) throws InterruptedException, RevisionGoneException {
    ShardRead read = reads[slot];
    if (read != null) {
      read.await(deadlineNanos(slot), orLate);
    }
    return look(slot);
  }

  /** What has become of what this slot was asked for. A slot that is lost is faulty. */
  State look(int slot) throws RevisionGoneException {
    ShardRead read = reads[slot];
    if (read == null) {
      return State.LOST;
    }
    if (read.hasArrived()) {
      return State.ARRIVED;
    }
    if (!read.isDone() && !read.isOlderThan(deadlineNanos(slot))) {
      return read.isLate() ? State.LATE : State.UNDER_WAY;
    }
    if (read.fault() == ShardFault.REVISION_GONE) {
      throw new RevisionGoneException();
    }
    faulty[slot] = true;
    if (ShardProbe.isLoss(read.fault()) && !isOwed(slot)) {
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

  /** Slots of which something has been read or is under way. */
  int count() {
    int count = 0;
    for (ShardRead read : reads) {
      count += read == null ? 0 : 1;
    }
    return count;
  }

  /** The read of this slot, which has arrived. */
  ShardRead arrivedRead(int slot) {
    ShardRead read = reads[slot];
    if (read == null) {
      throw new IllegalStateException("slot " + slot + " of " + id + " was not read");
    }
    return read;
  }

  /** What was made of other slots takes the place of this one's. */
  void replace(int slot, ByteRange range, ShardData rebuilt) {
    ShardRead read = newRead(slot, range);
    read.arrived(rebuilt);
    replace(slot, read);
  }

  void replace(int slot, ShardRead other) {
    drop(slot);
    reads[slot] = other;
  }

  /** Takes the slot's read, to replace another's. */
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
   * Why too little of the blob can be read.
   *
   * @throws RevisionGoneException where its row has changed since: shards may have moved
   */
  DataUnavailableException unavailable() throws RevisionGoneException {
    if (overloaded) {
      return new DataUnavailableException(Reason.OVERLOADED, "drive queues full: " + id);
    }
    try {
      List<BlobRow> rows = engine.metadata().blobs(List.of(id));
      if (rows.isEmpty() || rows.get(0).getReferences() == 0) {
        return new DataUnavailableException(Reason.GONE, "blob " + id + " was removed");
      }
      if (rows.get(0).getSettled() > row.getSettled()) {
        throw new RevisionGoneException();
      }
    } catch (MetadataUnavailableException e) {
      return new DataUnavailableException(Reason.TOO_FEW_DRIVES, "metadata: " + e.getMessage());
    }
    return new DataUnavailableException(
        Reason.TOO_FEW_DRIVES,
        "fewer than " + profile.dataShards() + " shards of blob " + id + " can be read");
  }

  private @Nullable ShardStore store(int slot) {
    return engine.drives().apply(drives[slot]);
  }
}
