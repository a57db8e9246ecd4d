package dev.ashlar.blob;

import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads one range of one blob, a few stripes at most: the strips that hold it, in parallel,
 * straight from their drives. Where a drive cannot deliver, exactly the missing ranges are rebuilt
 * from the same ranges of k others. Reading begins with the constructor; used by one thread.
 */
final class WindowRead {
  private final Engine engine;
  private final Profile profile;
  private final StripeLayout layout;
  private final BlobId id;
  private final int pg;
  private final PlacementMap placement;
  private final ByteRange range;
  // Per slot the read that has arrived or is under way; a faulty slot is not asked again.
  private final @Nullable ShardRead[] reads;
  private final boolean[] faulty;
  private final Set<UUID> silentDrives;
  private final RequestMemory memory;
  private long heldBytes;
  private boolean overloaded;

  /**
   * @param range of the blob, not empty
   * @param silentDrives those that did not answer earlier windows, and so are not waited for again;
   *     this one adds its own
   * @param memory in which {@link #bytesMax} are held for it
   */
  WindowRead(
      Engine engine,
      BlobRow blob,
      StripeLayout layout,
      ByteRange range,
      Set<UUID> silentDrives,
      RequestMemory memory) {
    this.engine = engine;
    this.profile = layout.profile();
    this.layout = layout;
    this.id = BlobId.of(blob.getId());
    this.pg = blob.getPg();
    this.placement = engine.metadata().placement();
    this.range = range;
    this.silentDrives = silentDrives;
    this.memory = memory;
    this.heldBytes = bytesMax(layout, range);
    this.reads = new ShardRead[profile.shards()];
    this.faulty = new boolean[profile.shards()];
    for (int slot : blob.getDebtSlotsList()) {
      faulty[slot] = true;
    }
    for (int slot = 0; slot < profile.shards(); slot++) {
      faulty[slot] |= silentDrives.contains(placement.drive(pg, slot));
    }
    for (int slot = 0; slot < profile.dataShards(); slot++) {
      if (!needed(slot).isEmpty()) {
        ask(slot, needed(slot));
      }
    }
  }

  /**
   * Direct memory that reading this range takes at most: a slab per shard where strips have to be
   * rebuilt, and in the last stripe one more for each that is short. Reads that were given up on
   * are not in it: they hold memory only while a drive's thread is in them.
   */
  static long bytesMax(StripeLayout layout, ByteRange range) {
    Profile profile = layout.profile();
    ByteRange hull = new ByteRange(0, 0);
    for (int slot = 0; slot < profile.dataShards(); slot++) {
      hull = hull(hull, layout.shardRange(slot, range));
    }
    int block = Profile.BLOCK_BYTES;
    long blocks = (hull.end() - 1) / block - hull.offset() / block + 1;
    long slab = SlabPool.slabBytes((int) blocks * block);
    if (layout.isOneStrip()) {
      return slab;
    }
    boolean isPadded =
        layout.blobLength() % profile.stripeBytes() != 0
            && layout.stripeOf(range.end() - 1) == layout.stripeCount() - 1;
    return slab * (profile.shards() + (isPadded ? profile.dataShards() : 0));
  }

  /** The same for whichever whole stripes of so many bytes, the last one included. */
  static long bytesMax(Profile profile, int windowBytes) {
    long slab = SlabPool.slabBytes(windowBytes / profile.dataShards());
    return slab * (profile.shards() + profile.dataShards());
  }

  /** Waits, rebuilds what is missing, hands everything over in order. */
  void deliver(DataSink sink) throws DataUnavailableException, InterruptedException {
    ByteRange missing = missing();
    if (!missing.isEmpty()) {
      if (layout.isOneStrip()) {
        readCopy(missing);
      } else {
        rebuild(missing);
      }
    }
    int unit = profile.stripeUnit();
    for (long at = range.offset(); at < range.end(); ) {
      long count = Math.min(unit - at % unit, range.end() - at);
      ShardRead read = arrivedRead(layout.slotOf(at));
      ByteBuffer bytes = read.bytes(new ByteRange(layout.shardOffsetOf(at), count));
      sink.accept(new ShardData(read.data().slab().retain(), bytes));
      at += count;
    }
    abandon();
  }

  /** Gives back what has arrived, but for what the receiver has, and what still may arrive. */
  void abandon() {
    for (int slot = 0; slot < reads.length; slot++) {
      ShardRead read = reads[slot];
      if (read != null) {
        reads[slot] = null;
        read.abandon(memory);
      }
    }
    memory.giveBack(heldBytes);
    heldBytes = 0;
  }

  private ByteRange needed(int dataSlot) {
    return layout.shardRange(dataSlot, range);
  }

  /** Waits for the needed strips and tells the hull of the shard ranges that did not come. */
  private ByteRange missing() throws InterruptedException {
    ByteRange hull = new ByteRange(0, 0);
    for (int slot = 0; slot < profile.dataShards(); slot++) {
      ByteRange needed = needed(slot);
      if (!needed.isEmpty() && !arrived(slot)) {
        hull = hull(hull, needed);
      }
    }
    return hull;
  }

  /** Every parity shard of a one-strip blob is a copy of its data. */
  private void readCopy(ByteRange missing) throws DataUnavailableException, InterruptedException {
    for (int slot = profile.dataShards(); slot < profile.shards(); slot++) {
      ask(slot, missing);
      if (arrived(slot)) {
        engine.metrics().rebuiltReads.increment();
        reads[0] = reads[slot];
        reads[slot] = null;
        return;
      }
    }
    throw unavailable();
  }

  private void rebuild(ByteRange firstMissing)
      throws DataUnavailableException, InterruptedException {
    ByteRange missing = firstMissing;
    int[] sources = gather(missing);
    // A slot lost on the way widens what has to be rebuilt; each round loses one or ends.
    for (ByteRange now = missing(); !now.equals(missing); now = missing()) {
      missing = now;
      sources = gather(missing);
    }
    ByteBuffer[] sourceBytes = new ByteBuffer[sources.length];
    Slab[] padding = new Slab[sources.length];
    try {
      for (int i = 0; i < sources.length; i++) {
        sourceBytes[i] = padded(sources[i], missing, padding, i);
      }
      decode(sources, sourceBytes, missing);
    } finally {
      for (Slab slab : padding) {
        if (slab != null) {
          slab.release();
        }
      }
    }
  }

  private void decode(int[] sources, ByteBuffer[] sourceBytes, ByteRange missing)
      throws InterruptedException {
    int[] wanted = new int[profile.dataShards()];
    int count = 0;
    for (int slot = 0; slot < profile.dataShards(); slot++) {
      if (!needed(slot).isEmpty() && !arrived(slot)) {
        wanted[count++] = slot;
      }
    }
    wanted = Arrays.copyOf(wanted, count);
    ByteBuffer[] targets = new ByteBuffer[count];
    for (int i = 0; i < count; i++) {
      Slab slab = engine.pool().acquire((int) missing.length());
      targets[i] = slab.slice(0, (int) missing.length());
      ShardRead rebuilt = new ShardRead(missing);
      rebuilt.succeeded(new ShardData(slab, targets[i]));
      reads[wanted[i]] = rebuilt;
    }
    engine.codes().of(profile).decode(sources, sourceBytes, wanted, targets);
    engine.metrics().rebuiltReads.increment(count);
  }

  /** Reads the range from k slots, data slots first; replaces those that fail. */
  private int[] gather(ByteRange missing) throws DataUnavailableException, InterruptedException {
    while (true) {
      int[] sources = new int[profile.dataShards()];
      int count = 0;
      for (int slot = 0; slot < profile.shards() && count < sources.length; slot++) {
        if (!faulty[slot] && store(slot) != null) {
          sources[count++] = slot;
          askToCover(slot, missing);
        }
      }
      if (count < sources.length) {
        throw unavailable();
      }
      boolean complete = true;
      for (int slot : sources) {
        complete &= present(slot, missing).isEmpty() || arrived(slot);
      }
      if (complete) {
        return sources;
      }
    }
  }

  private void askToCover(int slot, ByteRange missing) {
    ByteRange wanted = present(slot, missing);
    ShardRead read = reads[slot];
    if (wanted.isEmpty() || (read != null && read.covers(wanted))) {
      return;
    }
    drop(slot);
    ask(slot, slot < profile.dataShards() ? hull(wanted, needed(slot)) : wanted);
  }

  /** The part of the range in which this slot's shard has bytes; behind them it counts as zeros. */
  private ByteRange present(int slot, ByteRange missing) {
    long end = Math.min(missing.end(), layout.shardLength(slot));
    return new ByteRange(missing.offset(), Math.max(0, end - missing.offset()));
  }

  private ByteBuffer padded(int slot, ByteRange missing, @Nullable Slab[] padding, int index) {
    ByteRange present = present(slot, missing);
    if (present.equals(missing)) {
      return arrivedRead(slot).bytes(missing);
    }
    int length = (int) missing.length();
    Slab slab = engine.pool().acquire(length);
    padding[index] = slab;
    ByteBuffer bytes = slab.slice(0, length);
    if (!present.isEmpty()) {
      bytes.put(arrivedRead(slot).bytes(present));
    }
    while (bytes.hasRemaining()) {
      bytes.put((byte) 0);
    }
    return bytes.flip();
  }

  private ShardRead arrivedRead(int slot) {
    ShardRead read = reads[slot];
    if (read == null) {
      throw new IllegalStateException("slot " + slot + " of " + id + " was not read");
    }
    return read;
  }

  private @Nullable ShardStore store(int slot) {
    return engine.drives().apply(placement.drive(pg, slot));
  }

  private void ask(int slot, ByteRange shardRange) {
    ShardStore store = faulty[slot] ? null : store(slot);
    if (store != null) {
      ShardRead read = new ShardRead(shardRange);
      reads[slot] = read;
      ShardId shard = new ShardId(id, slot);
      store.read(shard, ShardView.ORIGINAL, shardRange.offset(), (int) shardRange.length(), read);
    }
  }

  private boolean arrived(int slot) throws InterruptedException {
    ShardRead read = reads[slot];
    if (read == null) {
      return false;
    }
    UUID drive = placement.drive(pg, slot);
    boolean isSilent = silentDrives.contains(drive);
    if (read.await(isSilent ? Duration.ZERO : engine.config().driveDeadline())) {
      return true;
    }
    faulty[slot] = true;
    if (read.fault() == ShardFault.UNAVAILABLE) {
      silentDrives.add(drive);
    }
    overloaded |= read.fault() == ShardFault.OVERLOADED;
    drop(slot);
    return false;
  }

  private void drop(int slot) {
    ShardRead read = reads[slot];
    if (read != null) {
      reads[slot] = null;
      read.abandon(memory);
    }
  }

  private DataUnavailableException unavailable() {
    if (overloaded) {
      return new DataUnavailableException(Reason.OVERLOADED, "drive queues full: " + id);
    }
    try {
      List<BlobRow> rows = engine.metadata().blobs(List.of(id));
      if (rows.isEmpty() || rows.get(0).getReferences() == 0) {
        return new DataUnavailableException(Reason.GONE, "blob " + id + " was removed");
      }
    } catch (MetadataUnavailableException e) {
      return new DataUnavailableException(Reason.TOO_FEW_DRIVES, "metadata: " + e.getMessage());
    }
    return new DataUnavailableException(
        Reason.TOO_FEW_DRIVES,
        "fewer than " + profile.dataShards() + " shards of blob " + id + " can be read");
  }

  private static ByteRange hull(ByteRange a, ByteRange b) {
    if (a.isEmpty()) {
      return b;
    }
    if (b.isEmpty()) {
      return a;
    }
    long from = Math.min(a.offset(), b.offset());
    return new ByteRange(from, Math.max(a.end(), b.end()) - from);
  }
}
