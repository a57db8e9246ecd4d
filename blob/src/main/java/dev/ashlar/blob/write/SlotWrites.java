package dev.ashlar.blob.write;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.context.DeadlineSweeper;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.Hedging;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Sends the writes of one blob to the drives of its slots in parallel. A slot that fails receives
 * nothing more and becomes a debt; the blob's write fails if fewer slots than the durable minimum
 * are left. Used by one thread.
 */
public final class SlotWrites {
  private final EngineContext engine;
  private final Profile profile;
  private final BlobId id;
  private final int pg;
  private final Slot[] slots;
  private final BitSet debtsBefore = new BitSet();
  private final ArrayDeque<Round> inFlight = new ArrayDeque<>();

  /** How a drive is asked to store something. */
  public interface Operation {
    void start(ShardStore store, Completion<DriveId> completion);
  }

  /** Run with a slot's drive after all its answers. */
  public interface Aftermath {
    void run(int slot, ShardStore store);
  }

  /**
   * A write to one slot's drive.
   *
   * @param release returns the memory, once, when the drive is done with it
   */
  public record SlotWrite(int slot, Operation operation, Runnable release) {}

  /** How a drive is asked to store a piece of a batch. */
  public interface PieceOperation {
    void start(ShardStore store, int slot, StripeBatch.Piece piece, Completion<DriveId> completion);
  }

  /** State of one slot's drive; updated by the drive's thread. */
  private static final class Slot {
    final @Nullable ShardStore store;

    /** Writes without an answer, plus one until the action afterwards is known. */
    final AtomicInteger unanswered = new AtomicInteger(1);

    final AtomicReference<@Nullable Runnable> afterwards = new AtomicReference<>();
    boolean isTouched;
    boolean wasSent;
    volatile @Nullable DriveId acknowledgedBy;
    volatile @Nullable ShardFault fault;

    Slot(@Nullable ShardStore store) {
      this.store = store;
      fault = store == null ? ShardFault.UNAVAILABLE : store.writeRefusal();
    }

    void acknowledge(DriveId drive) {
      DriveId before = acknowledgedBy;
      if (before == null) {
        acknowledgedBy = drive;
      } else if (!before.equals(drive)) {
        // The drive began a new incarnation between two writes of this blob.
        fault = ShardFault.MISSING;
      }
    }

    /** Notes one answer, or that no more writes follow. */
    void answered() {
      Runnable last = unanswered.decrementAndGet() == 0 ? afterwards.get() : null;
      if (last != null) {
        last.run();
      }
    }

    void afterwards(Runnable action) {
      if (wasSent && afterwards.compareAndSet(null, action)) {
        answered();
      }
    }
  }

  /** Writes that were sent together and are in flight. */
  private static final class Round implements DeadlineSweeper.Wait {
    private final Hedging hedging;
    private final long deadlineNanos;
    private final AtomicInteger left;
    private final AtomicIntegerArray outstanding;
    private volatile @Nullable Thread waiter;

    Round(EngineContext engine, int writes, int slots) {
      this.hedging = engine.hedging();
      this.deadlineNanos = System.nanoTime() + engine.config().driveDeadline().toNanos();
      this.left = new AtomicInteger(writes);
      this.outstanding = new AtomicIntegerArray(slots);
    }

    void send(Slot slot, ShardStore store, SlotWrite write) {
      outstanding.set(write.slot(), 1);
      slot.wasSent = true;
      slot.unanswered.incrementAndGet();
      write
          .operation()
          .start(
              store,
              new Completion<>() {
                @Override
                public void succeeded(DriveId drive) {
                  slot.acknowledge(drive);
                  finished(slot, write);
                }

                @Override
                public void failed(ShardException failure) {
                  slot.fault = failure.fault();
                  finished(slot, write);
                }
              });
    }

    private void finished(Slot slot, SlotWrite write) {
      write.release().run();
      giveUp(write.slot());
      slot.answered();
    }

    /** Stops waiting for this slot's answer. */
    void giveUp(int index) {
      if (outstanding.getAndSet(index, 0) != 0 && left.decrementAndGet() == 0) {
        wake();
      }
    }

    boolean isOutstanding(int index) {
      return outstanding.get(index) != 0;
    }

    /** Waits for all answers; false if some slot misses the deadline. */
    boolean await() throws InterruptedException {
      if (left.get() == 0) {
        return true;
      }
      waiter = Thread.currentThread();
      int place = hedging.watch().add(this);
      try {
        while (left.get() > 0 && !isDue()) {
          hedging.park(place, deadlineNanos - System.nanoTime());
        }
        return left.get() == 0;
      } finally {
        hedging.watch().remove(place);
        waiter = null;
      }
    }

    private boolean isDue() {
      return System.nanoTime() - deadlineNanos >= 0;
    }

    @Override
    public void wakeIfDue() {
      if (isDue()) {
        wake();
      }
    }

    @Override
    public void wake() {
      LockSupport.unpark(waiter);
    }
  }

  /**
   * @param drives of each slot
   * @param debts slots that are debts already, and so receive nothing
   */
  public SlotWrites(
      EngineContext engine,
      Profile profile,
      IntFunction<UUID> drives,
      BlobId id,
      int pg,
      Collection<Integer> debts)
      throws DataUnavailableException {
    this.engine = engine;
    this.profile = profile;
    this.id = id;
    this.pg = pg;
    this.slots = new Slot[profile.shards()];
    for (int slot = 0; slot < slots.length; slot++) {
      slots[slot] = new Slot(engine.drives().apply(drives.apply(slot)));
    }
    for (int slot : debts) {
      debtsBefore.set(slot);
      slots[slot].fault = ShardFault.MISSING;
    }
    check();
  }

  /** The slots that receive nothing more. */
  public BitSet missing() {
    BitSet missing = new BitSet();
    for (int index = 0; index < slots.length; index++) {
      missing.set(index, slots[index].fault != null);
    }
    return missing;
  }

  /**
   * Sends the pieces of a batch and releases the batch. Each piece keeps its memory until its drive
   * is done with it.
   */
  public void send(
      StripeBatch batch, StripeBatch.@Nullable Piece[] pieces, PieceOperation operation)
      throws DataUnavailableException {
    List<SlotWrite> writes = new ArrayList<>(pieces.length);
    for (int index = 0; index < pieces.length; index++) {
      StripeBatch.Piece piece = pieces[index];
      if (piece != null) {
        int slot = index;
        piece.slab().retain();
        writes.add(
            new SlotWrite(
                slot,
                (store, told) -> operation.start(store, slot, piece, told),
                () -> piece.slab().release()));
      }
    }
    batch.release();
    send(writes);
  }

  /** Sends at most one write per slot; writes to missing slots are released. */
  public void send(List<SlotWrite> writes) throws DataUnavailableException {
    // Chosen once: a slot may fail while others are sent.
    List<SlotWrite> chosen = new ArrayList<>(writes.size());
    for (SlotWrite write : writes) {
      slots[write.slot()].isTouched = true;
      if (slots[write.slot()].fault == null) {
        chosen.add(write);
      } else {
        write.release().run();
      }
    }
    if (!chosen.isEmpty()) {
      Round round = new Round(engine, chosen.size(), slots.length);
      inFlight.add(round);
      for (SlotWrite write : chosen) {
        Slot slot = slots[write.slot()];
        ShardStore store = slot.store;
        if (store == null) {
          throw new IllegalStateException("slot " + write.slot() + " chosen without a drive");
        }
        round.send(slot, store, write);
      }
    }
    check();
  }

  /**
   * Reserves memory for the next round, waiting for rounds in flight if needed. False if nothing is
   * in flight any more and the memory is still not available at once.
   */
  public boolean tryHold(RequestMemory memory, long bytes)
      throws DataUnavailableException, InterruptedException {
    while (inFlight.size() >= engine.config().windowsInFlight() || !memory.tryHold(bytes)) {
      if (inFlight.isEmpty()) {
        return false;
      }
      awaitOldest();
    }
    return true;
  }

  /** Waits until everything that was sent is durable or has failed. */
  public void awaitAll() throws DataUnavailableException, InterruptedException {
    while (!inFlight.isEmpty()) {
      awaitOldest();
    }
  }

  /** The slots that hold everything that was sent; the others become debts. */
  public List<SlotAck> acks() {
    List<SlotAck> acks = new ArrayList<>();
    for (int index = 0; index < slots.length; index++) {
      DriveId drive = slots[index].acknowledgedBy;
      if (slots[index].fault != null) {
        boolean isNew = slots[index].isTouched && !debtsBefore.get(index);
        engine.metrics().indebtedSlots.increment(isNew ? 1 : 0);
      } else if (drive != null) {
        acks.add(BlobRows.ack(index, drive));
      }
    }
    return acks;
  }

  /**
   * Runs an action with each drive to which anything was sent, after its last answer: so the action
   * cannot overtake a write. Nothing may be sent from now on.
   */
  public void afterwards(Aftermath action) {
    for (int index = 0; index < slots.length; index++) {
      afterwards(index, action);
    }
  }

  /** The same, for missing slots only. */
  public void afterwardsWhereMissing(Aftermath action) {
    for (int index = 0; index < slots.length; index++) {
      if (slots[index].fault != null) {
        afterwards(index, action);
      }
    }
  }

  private void afterwards(int index, Aftermath action) {
    ShardStore store = slots[index].store;
    if (store != null) {
      slots[index].afterwards(() -> action.run(index, store));
    }
  }

  private void awaitOldest() throws DataUnavailableException, InterruptedException {
    Round oldest = inFlight.element();
    if (!oldest.await()) {
      for (int index = 0; index < slots.length; index++) {
        if (oldest.isOutstanding(index)) {
          giveUp(index);
        }
      }
    }
    inFlight.remove();
    check();
  }

  /** The drive missed the deadline: its slot becomes a debt, and no round waits for it. */
  private void giveUp(int index) {
    slots[index].fault = ShardFault.UNAVAILABLE;
    for (Round round : inFlight) {
      round.giveUp(index);
    }
  }

  private void check() throws DataUnavailableException {
    int usable = 0;
    int full = 0;
    boolean isMisplaced = false;
    for (Slot slot : slots) {
      ShardFault fault = slot.fault;
      isMisplaced |= fault == ShardFault.MISSING;
      if (fault == null) {
        usable++;
      } else if (fault == ShardFault.OVERLOADED) {
        // A full queue is temporary and must not become a debt.
        throw new DataUnavailableException(Reason.OVERLOADED, "drive queue is full; blob " + id);
      } else if (fault == ShardFault.REVISION_GONE) {
        throw new DataUnavailableException(Reason.CONFLICT, "changed concurrently: blob " + id);
      } else if (fault == ShardFault.FULL) {
        full++;
      }
    }
    if (usable < profile.durableMinimum()) {
      // If only space is missing, deletes help; otherwise only drives do.
      boolean isFull = usable + full >= profile.durableMinimum();
      engine.metrics().refused(isFull).increment();
      throw new DataUnavailableException(
          isFull ? Reason.FULL : isMisplaced ? Reason.MISPLACED : Reason.TOO_FEW_DRIVES,
          String.format(
              "%d of %d drives of placement group %d accept writes, %d are full, %d are required",
              usable, profile.shards(), pg, full, profile.durableMinimum()));
    }
  }
}
