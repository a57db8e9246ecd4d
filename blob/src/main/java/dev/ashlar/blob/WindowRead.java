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
 * Reads parts of one blob, of a few stripes at most: the strips that hold them, in parallel,
 * straight from their drives. Where a drive cannot deliver, exactly the missing ranges are rebuilt
 * from the same ranges of k others. Reading begins with the constructor; used by one thread.
 */
final class WindowRead {
  private final Engine engine;
  private final Profile profile;
  private final BlobId id;
  private final int pg;
  private final PlacementMap placement;
  private final ByteRange[] needed;
  // Per slot the read that has arrived or is under way; a faulty slot is not asked again.
  private final @Nullable ShardRead[] reads;
  private final boolean[] faulty;
  private final Set<UUID> silentDrives;
  private final RequestMemory memory;
  private final Renewal renewal;
  private BlobRow row;
  private StripeLayout layout;
  private long heldBytes;
  private boolean overloaded;

  /** What becomes of a read whose revision of the blob is no longer kept. */
  interface Renewal {
    /**
     * The row to read with instead: of a later revision in which the same bytes are unchanged.
     *
     * @throws DataUnavailableException if there is none
     */
    BlobRow instead(BlobRow stale) throws DataUnavailableException;
  }

  /** A drive no longer has the revision. */
  private static final class RevisionGoneException extends Exception {
    private static final long serialVersionUID = 1;

    RevisionGoneException() {
      super("revision gone", null, false, false);
    }
  }

  /**
   * @param row in which revision the blob is read
   * @param needed per data slot the range of its shard, possibly empty; not all are
   * @param silentDrives those that did not answer earlier windows, and so are not waited for again;
   *     this one adds its own
   * @param memory in which {@link #bytesMax} are held for it
   */
  WindowRead(
      Engine engine,
      BlobRow row,
      ByteRange[] needed,
      Set<UUID> silentDrives,
      RequestMemory memory,
      Renewal renewal) {
    this.engine = engine;
    this.row = row;
    this.layout = layout(row);
    this.profile = layout.profile();
    this.id = BlobId.of(row.getId());
    this.pg = row.getPg();
    this.placement = engine.metadata().placement();
    this.needed = needed;
    this.silentDrives = silentDrives;
    this.memory = memory;
    this.renewal = renewal;
    this.heldBytes = bytesMax(layout, needed);
    this.reads = new ShardRead[profile.shards()];
    this.faulty = new boolean[profile.shards()];
    start();
  }

  static StripeLayout layout(BlobRow row) {
    return new StripeLayout(Profile.of(row.getProfile()), row.getLength());
  }

  /** Per data slot the part of its shard that holds bytes of this range. */
  static ByteRange[] needed(StripeLayout layout, ByteRange range) {
    ByteRange[] needed = new ByteRange[layout.profile().dataShards()];
    Arrays.setAll(needed, slot -> layout.shardRange(slot, range));
    return needed;
  }

  /** Asks for all that is needed; where it is known to be missing, for what rebuilds it, too. */
  private void start() {
    Arrays.fill(faulty, false);
    for (int slot : row.getDebtSlotsList()) {
      faulty[slot] = true;
    }
    ByteRange missing = new ByteRange(0, 0);
    for (int slot = 0; slot < profile.shards(); slot++) {
      faulty[slot] |= store(slot) == null || silentDrives.contains(placement.drive(pg, slot));
      if (faulty[slot] && slot < profile.dataShards()) {
        missing = hull(missing, needed[slot]);
      }
    }
    for (int slot = 0; slot < profile.dataShards(); slot++) {
      if (!needed[slot].isEmpty()) {
        ask(slot, hull(needed[slot], present(slot, missing)));
      }
    }
  }

  /**
   * Direct memory that reading these parts takes at most: a slab per shard where strips have to be
   * rebuilt, and in the last stripe one more for each that is short. Reads that were given up on
   * are not in it: they hold memory only while a drive's thread is in them.
   */
  static long bytesMax(StripeLayout layout, ByteRange[] needed) {
    Profile profile = layout.profile();
    ByteRange hull = new ByteRange(0, 0);
    for (ByteRange each : needed) {
      hull = hull(hull, each);
    }
    int block = Profile.BLOCK_BYTES;
    long blocks = (hull.end() - 1) / block - hull.offset() / block + 1;
    long slab = SlabPool.slabBytes((int) blocks * block);
    if (layout.isOneStrip()) {
      return slab;
    }
    boolean isPadded = hull.end() > layout.shardLength(profile.dataShards() - 1);
    return slab * (profile.shards() + (isPadded ? profile.dataShards() : 0));
  }

  /** The same for whichever whole stripes of so many bytes, the last one included. */
  static long bytesMax(Profile profile, int windowBytes) {
    long slab = SlabPool.slabBytes(windowBytes / profile.dataShards());
    return slab * (profile.shards() + profile.dataShards());
  }

  /**
   * Waits, rebuilds what is missing, hands everything over in order.
   *
   * @param range of the blob, whose parts are those needed
   */
  void deliver(ByteRange range, DataSink sink)
      throws DataUnavailableException, InterruptedException {
    await();
    int unit = profile.stripeUnit();
    for (long at = range.offset(); at < range.end(); ) {
      long count = Math.min(unit - at % unit, range.end() - at);
      int slot = layout.slotOf(at);
      ByteBuffer bytes = bytes(slot, new ByteRange(layout.shardOffsetOf(at), count));
      sink.accept(new ShardData(arrivedRead(slot).data().slab().retain(), bytes));
      at += count;
    }
    abandon();
  }

  /** Waits and rebuilds what is missing. */
  void await() throws DataUnavailableException, InterruptedException {
    while (true) {
      try {
        ByteRange missing = missing();
        if (!missing.isEmpty()) {
          if (layout.isOneStrip()) {
            readCopy(missing);
          } else {
            rebuild(missing);
          }
        }
        return;
      } catch (RevisionGoneException e) {
        restart(renewal.instead(row));
      }
    }
  }

  private void restart(BlobRow newRow) throws DataUnavailableException, InterruptedException {
    for (int slot = 0; slot < reads.length; slot++) {
      drop(slot);
    }
    row = newRow;
    layout = layout(newRow);
    long bytes = bytesMax(layout, needed);
    if (bytes > heldBytes) {
      memory.hold(bytes - heldBytes);
      heldBytes = bytes;
    }
    start();
  }

  /** Of what was needed and has arrived, this part of the shard. Valid until it is abandoned. */
  ByteBuffer bytes(int slot, ByteRange part) {
    return arrivedRead(slot).bytes(part);
  }

  /** Gives back what has arrived, but for what the receiver has, and what still may arrive. */
  void abandon() {
    for (int slot = 0; slot < reads.length; slot++) {
      drop(slot);
    }
    memory.giveBack(heldBytes);
    heldBytes = 0;
  }

  /** Waits for the needed strips and tells the hull of the shard ranges that did not come. */
  private ByteRange missing() throws InterruptedException, RevisionGoneException {
    ByteRange hull = new ByteRange(0, 0);
    for (int slot = 0; slot < profile.dataShards(); slot++) {
      if (!needed[slot].isEmpty() && !arrived(slot)) {
        hull = hull(hull, needed[slot]);
      }
    }
    return hull;
  }

  /** Every parity shard of a one-strip blob is a copy of its data. */
  private void readCopy(ByteRange missing)
      throws DataUnavailableException, InterruptedException, RevisionGoneException {
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
      throws DataUnavailableException, InterruptedException, RevisionGoneException {
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
      throws InterruptedException, RevisionGoneException {
    int[] wanted = new int[profile.dataShards()];
    int count = 0;
    for (int slot = 0; slot < profile.dataShards(); slot++) {
      if (!needed[slot].isEmpty() && !arrived(slot)) {
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

  /**
   * Reads the range from k slots, data slots first; replaces those that fail. A slot without bytes
   * there is as good as any, whatever became of its drive.
   */
  private int[] gather(ByteRange missing)
      throws DataUnavailableException, InterruptedException, RevisionGoneException {
    while (true) {
      int[] sources = new int[profile.dataShards()];
      int count = 0;
      for (int slot = 0; slot < profile.shards() && count < sources.length; slot++) {
        if (!faulty[slot] || present(slot, missing).isEmpty()) {
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
    ask(slot, slot < profile.dataShards() ? hull(wanted, needed[slot]) : wanted);
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
      ShardView view = ShardViews.of(row, slot);
      ShardId shard = new ShardId(id, slot);
      store.read(shard, view, shardRange.offset(), (int) shardRange.length(), read);
    }
  }

  private boolean arrived(int slot) throws InterruptedException, RevisionGoneException {
    ShardRead read = reads[slot];
    if (read == null) {
      faulty[slot] = true; // also where the drive has gone since it was counted on
      return false;
    }
    UUID drive = placement.drive(pg, slot);
    boolean isSilent = silentDrives.contains(drive);
    if (read.await(isSilent ? Duration.ZERO : engine.config().driveDeadline())) {
      return true;
    }
    if (read.fault() == ShardFault.REVISION_GONE) {
      throw new RevisionGoneException();
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
