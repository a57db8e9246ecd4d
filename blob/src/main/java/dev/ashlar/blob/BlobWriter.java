package dev.ashlar.blob;

import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.codec.checksum.Md5;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/**
 * Writes one new blob: batches of stripes go to all slots in parallel, a bounded number of batches
 * at a time. A slot that fails gets nothing more and will be a debt; the blob fails when fewer than
 * the durable minimum are left. Used by one thread.
 */
final class BlobWriter {
  private final Engine engine;
  private final Profile profile;
  private final PlacementMap placement;
  private final BlobId id;
  private final int pg;
  private final ByteBuffer zeros;
  private final RequestMemory memory;
  private final Md5 md5;
  private final Slot[] slots;
  private final ArrayDeque<BatchWrite> inFlight = new ArrayDeque<>();
  private final long lengthMax;
  private @Nullable StripeBatch batch;
  private long sealedLength;

  /** One slot's drive and what became of it; written by the drive's thread. */
  private static final class Slot {
    final @Nullable ShardStore store;
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
        // The drive lost its memory between two batches of this blob.
        fault = ShardFault.MISSING;
      }
    }
  }

  /** A sealed batch on its way to its drives. */
  private static final class BatchWrite {
    private final CountDownLatch done;
    private final AtomicIntegerArray outstanding;
    private final long sentNanos = System.nanoTime();

    BatchWrite(int writes, int shards) {
      this.done = new CountDownLatch(writes);
      this.outstanding = new AtomicIntegerArray(shards);
    }

    void send(int index, Slot slot, ShardStore store, ShardWrite write, Slab slab) {
      outstanding.set(index, 1);
      store.write(
          write,
          new Completion<>() {
            @Override
            public void succeeded(DriveId drive) {
              slot.acknowledge(drive);
              finished(index, slab);
            }

            @Override
            public void failed(ShardException failure) {
              slot.fault = failure.fault();
              finished(index, slab);
            }
          });
    }

    private void finished(int index, Slab slab) {
      slab.release();
      giveUp(index);
    }

    /** From now on nobody waits for this slot's answer. */
    void giveUp(int index) {
      if (outstanding.getAndSet(index, 0) != 0) {
        done.countDown();
      }
    }

    boolean isOutstanding(int index) {
      return outstanding.get(index) != 0;
    }

    /** False if so long after it was sent some slot has not answered. */
    boolean await(Duration deadline) throws InterruptedException {
      long left = deadline.toNanos() - (System.nanoTime() - sentNanos);
      return done.await(left, TimeUnit.NANOSECONDS);
    }
  }

  /**
   * @param lengthMax bytes it will take at most; sizes the first buffers
   * @param zeros see {@link StripeBatch#seal}
   * @param md5 to which it adds what it writes
   */
  BlobWriter(
      Engine engine, BlobId id, long lengthMax, ByteBuffer zeros, RequestMemory memory, Md5 md5)
      throws DataUnavailableException {
    this.engine = engine;
    this.profile = engine.config().profile();
    this.placement = engine.metadata().placement();
    this.id = id;
    this.pg = id.placementGroup(placement.pgCount());
    this.lengthMax = lengthMax;
    this.zeros = zeros;
    this.memory = memory;
    this.md5 = md5;
    this.slots = new Slot[profile.shards()];
    for (int slot = 0; slot < slots.length; slot++) {
      slots[slot] = new Slot(engine.drives().apply(placement.drive(pg, slot)));
    }
    checkSlots();
  }

  long length() {
    return sealedLength + (batch == null ? 0 : batch.length());
  }

  long remaining() {
    return lengthMax - length();
  }

  /** Takes as many bytes as this blob has room for. */
  void write(ByteBuffer bytes) throws DataUnavailableException, InterruptedException {
    while (bytes.hasRemaining() && remaining() > 0) {
      StripeBatch current = batch;
      if (current == null) {
        current = newBatch();
        batch = current;
      }
      current.fill(bytes);
      if (current.isFull()) {
        sendBatch(current);
      }
    }
  }

  /** Sends what was written to the drives. */
  void sendRest() throws DataUnavailableException, InterruptedException {
    StripeBatch last = batch;
    if (last != null) {
      sendBatch(last);
    }
  }

  /** Waits until everything is durable and tells who holds what. */
  NewBlob finish() throws DataUnavailableException, InterruptedException {
    sendRest();
    while (!inFlight.isEmpty()) {
      awaitOldest();
    }
    NewBlob.Builder blob =
        NewBlob.newBuilder()
            .setId(id.toMessage())
            .setLength(sealedLength)
            .setProfile(profile.toMessage())
            .setPg(pg)
            .setEpoch(placement.epoch());
    for (int index = 0; index < slots.length; index++) {
      DriveId drive = slots[index].acknowledgedBy;
      if (slots[index].fault != null) {
        engine.metrics().indebtedSlots.increment();
      } else if (drive != null) {
        blob.addAcks(ack(index, drive));
      }
    }
    return blob.build();
  }

  /** Removes what reached the drives. The id was never proposed, so nobody can refer to it. */
  void discard() {
    StripeBatch unsent = batch;
    if (unsent != null) {
      batch = null;
      unsent.release();
    }
    engine.metrics().abandonedBlobs.increment();
    for (Slot slot : slots) {
      if (slot.store != null && sealedLength > 0) {
        engine.leftovers().remove(slot.store, id);
      }
    }
  }

  private void sendBatch(StripeBatch full) throws DataUnavailableException, InterruptedException {
    StripeBatch.@Nullable Piece[] pieces = full.seal(engine.codes().of(profile), zeros);
    engine.metrics().encodedBytes.increment(full.length());
    long shardOffset = sealedLength / profile.dataShards();
    batch = null;
    sealedLength += full.length();
    StripeBatch.Content content = full.content();
    boolean isTaken = false;
    try {
      send(full, pieces, shardOffset);
      md5.add(content.bytes(), content::release);
      isTaken = true;
    } finally {
      if (!isTaken) {
        content.release();
      }
    }
    checkSlots();
  }

  private void send(StripeBatch full, StripeBatch.@Nullable Piece[] pieces, long shardOffset) {
    // Chosen once: a slot may fail while the others are being sent to.
    int[] targets = new int[slots.length];
    int count = 0;
    for (int index = 0; index < slots.length; index++) {
      StripeBatch.Piece piece = pieces[index];
      if (piece != null && slots[index].fault == null) {
        piece.slab().retain();
        targets[count++] = index;
      }
    }
    full.release();
    if (count == 0) {
      return;
    }
    BatchWrite write = new BatchWrite(count, slots.length);
    inFlight.add(write);
    for (int i = 0; i < count; i++) {
      int index = targets[i];
      StripeBatch.Piece piece = pieces[index];
      ShardStore store = slots[index].store;
      if (piece == null || store == null) {
        throw new IllegalStateException("slot " + index + " chosen without bytes or drive");
      }
      ShardWrite shardWrite =
          new ShardWrite(
              new ShardId(id, index), shardOffset, piece.payload().duplicate(), piece.blockCrcs());
      write.send(index, slots[index], store, shardWrite, piece.slab());
    }
  }

  private int capacity(int windowBytes) {
    int stripes = EngineConfig.windowStripes(profile, windowBytes);
    return (int) Math.min((long) stripes * profile.stripeBytes(), remaining());
  }

  /** Waits for its memory, first of all for that of the batches in flight. */
  private StripeBatch newBatch() throws DataUnavailableException, InterruptedException {
    int capacity = capacity(engine.config().windowBytes());
    int least = capacity(engine.config().leastWindowBytes());
    if (!memory.isOpen()) {
      memory.open(StripeBatch.bytesMax(profile, capacity), StripeBatch.bytesMax(profile, least));
    }
    if (!memory.isRoomy()) {
      capacity = least;
    }
    long bytes = StripeBatch.bytesMax(profile, capacity);
    while (inFlight.size() >= engine.config().windowsInFlight() || !memory.tryHold(bytes)) {
      if (inFlight.isEmpty()) {
        md5.await();
        memory.hold(bytes);
        break;
      }
      awaitOldest();
    }
    return new StripeBatch(profile, engine.pool(), capacity, memory);
  }

  private void awaitOldest() throws DataUnavailableException, InterruptedException {
    BatchWrite oldest = inFlight.element();
    if (!oldest.await(engine.config().driveDeadline())) {
      for (int index = 0; index < slots.length; index++) {
        if (oldest.isOutstanding(index)) {
          giveUp(index);
        }
      }
    }
    inFlight.remove();
    checkSlots();
  }

  /** The drive is too late: its slot becomes a debt, and no batch waits for it any more. */
  private void giveUp(int index) {
    slots[index].fault = ShardFault.UNAVAILABLE;
    for (BatchWrite write : inFlight) {
      write.giveUp(index);
    }
  }

  private void checkSlots() throws DataUnavailableException {
    int usable = 0;
    int full = 0;
    for (Slot slot : slots) {
      ShardFault fault = slot.fault;
      if (fault == null) {
        usable++;
      } else if (fault == ShardFault.OVERLOADED) {
        // A full queue passes; it must not turn into a debt that repair has to pay.
        throw new DataUnavailableException(Reason.OVERLOADED, "drive queue full: " + id);
      } else if (fault == ShardFault.FULL) {
        full++;
      }
    }
    if (usable < profile.durableMinimum()) {
      // If space is what is missing, deletes help; else only drives do.
      boolean isFull = usable + full >= profile.durableMinimum();
      engine.metrics().refused(isFull).increment();
      throw new DataUnavailableException(
          isFull ? Reason.FULL : Reason.TOO_FEW_DRIVES,
          String.format(
              "%d of %d drives of placement group %d take writes, %d are full, %d are needed",
              usable, profile.shards(), pg, full, profile.durableMinimum()));
    }
  }

  private static SlotAck ack(int slot, DriveId drive) {
    UUID uuid = drive.id();
    return SlotAck.newBuilder()
        .setSlot(slot)
        .setDriveHigh(uuid.getMostSignificantBits())
        .setDriveLow(uuid.getLeastSignificantBits())
        .setIncarnation(drive.incarnation())
        .build();
  }
}
