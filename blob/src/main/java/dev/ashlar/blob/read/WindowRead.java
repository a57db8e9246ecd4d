package dev.ashlar.blob.read;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectStore.DataSink;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.blob.read.SlotReads.RevisionGoneException;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Set;
import java.util.UUID;

/**
 * Reads parts of one blob, of a few stripes at most: their strips in parallel, directly from their
 * drives. If a drive cannot deliver or is late, exactly the missing ranges are rebuilt from the
 * same ranges of k others. Used by one thread.
 */
public final class WindowRead {
  private final Profile profile;
  private final ByteRange[] needed;
  private final SlotReads slots;
  private final Rebuild rebuild;
  private final RequestMemory memory;
  private final Renewal renewal;
  private long heldBytes;

  /** Continues a read whose revision of the blob is no longer available. */
  public interface Renewal {
    /**
     * The row of a later revision in which the same bytes are unchanged.
     *
     * @throws DataUnavailableException if there is none
     */
    BlobRow instead(BlobRow stale) throws DataUnavailableException;
  }

  private WindowRead(
      EngineContext engine,
      BlobRow row,
      ByteRange[] needed,
      Set<UUID> silentDrives,
      RequestMemory memory,
      Renewal renewal) {
    this.needed = needed;
    this.memory = memory;
    this.renewal = renewal;
    this.slots = new SlotReads(engine, row, silentDrives, memory);
    this.profile = slots.profile();
    this.rebuild = new Rebuild(engine, slots, needed, memory);
    this.heldBytes = bytesMax(slots.layout(), needed);
  }

  /**
   * Asks the drives for all that is needed.
   *
   * @param row in which revision the blob is read
   * @param needed per data slot the range of its shard, possibly empty, but not for all
   * @param silentDrives drives that did not answer earlier windows, and so are not waited for
   *     again; this window adds its own
   * @param memory in which {@link #bytesMax} are held for it
   */
  public static WindowRead start(
      EngineContext engine,
      BlobRow row,
      ByteRange[] needed,
      Set<UUID> silentDrives,
      RequestMemory memory,
      Renewal renewal) {
    WindowRead read = new WindowRead(engine, row, needed, silentDrives, memory, renewal);
    read.ask();
    return read;
  }

  /** Per data slot the part of its shard that contains this range. */
  public static ByteRange[] needed(StripeLayout layout, ByteRange range) {
    ByteRange[] needed = new ByteRange[layout.profile().dataShards()];
    Arrays.setAll(needed, slot -> layout.shardRange(slot, layout.accessed(range)));
    return needed;
  }

  /** Requests all needed ranges, and the sources of ranges that are known to be missing. */
  private void ask() {
    ByteRange missing = ByteRange.EMPTY;
    for (int slot = 0; slot < profile.dataShards(); slot++) {
      if (slots.isFaulty(slot)) {
        missing = missing.hull(needed[slot]);
      }
    }
    for (int slot = 0; slot < profile.dataShards(); slot++) {
      if (!needed[slot].isEmpty()) {
        slots.ask(slot, needed[slot].hull(slots.present(slot, missing)));
      }
    }
  }

  /**
   * Maximum direct memory for reading these parts: a slab per shard if strips have to be rebuilt,
   * and one more for each short shard of the last stripe. Not included are abandoned reads, which
   * keep their buffers only until the reading thread returns, and hedges, which reserve their own.
   */
  public static long bytesMax(StripeLayout layout, ByteRange[] needed) {
    Profile profile = layout.profile();
    long slab = slabBytes(needed);
    if (layout.isOneStrip()) {
      return slab;
    }
    return slab * (profile.shards() + (isPadded(layout, needed) ? profile.dataShards() : 0));
  }

  /** Bytes of a slab for the needed range of any shard. */
  static long slabBytes(ByteRange[] needed) {
    ByteRange hull = hull(needed);
    int block = Profile.BLOCK_BYTES;
    long blocks = (hull.end() - 1) / block - hull.offset() / block + 1;
    return SlabPool.slabBytes((int) blocks * block);
  }

  /** Whether some shards end before the needed range. */
  static boolean isPadded(StripeLayout layout, ByteRange[] needed) {
    return hull(needed).end() > layout.shardLength(layout.profile().dataShards() - 1);
  }

  private static ByteRange hull(ByteRange[] ranges) {
    ByteRange hull = ByteRange.EMPTY;
    for (ByteRange each : ranges) {
      hull = hull.hull(each);
    }
    return hull;
  }

  /** The same for any whole stripes of this many bytes, including the last stripe. */
  public static long bytesMax(Profile profile, int windowBytes) {
    long slab = SlabPool.slabBytes(windowBytes / profile.dataShards());
    return slab * (profile.shards() + profile.dataShards());
  }

  /**
   * Waits, rebuilds missing parts, and delivers everything in order.
   *
   * @param range of the blob that consists of the needed parts
   */
  void deliver(ByteRange range, DataSink sink)
      throws DataUnavailableException, InterruptedException {
    await();
    StripeLayout layout = slots.layout();
    int unit = profile.stripeUnit();
    for (long at = range.offset(); at < range.end(); ) {
      long count = Math.min(unit - at % unit, range.end() - at);
      int slot = layout.slotOf(at);
      ByteBuffer bytes = bytes(slot, new ByteRange(layout.shardOffsetOf(at), count));
      sink.accept(new ShardData(slots.arrivedRead(slot).data().slab().retain(), bytes));
      at += count;
    }
    abandon();
  }

  /** Whether all that is needed has arrived. */
  boolean hasArrived() {
    for (int slot = 0; slot < needed.length; slot++) {
      if (!needed[slot].isEmpty() && !slots.hasArrived(slot)) {
        return false;
      }
    }
    return true;
  }

  /** Waits and rebuilds missing parts. */
  public void await() throws DataUnavailableException, InterruptedException {
    while (true) {
      try {
        rebuild.awaitNeeded();
        return;
      } catch (RevisionGoneException e) {
        restart(renewal.instead(slots.row()));
      }
    }
  }

  private void restart(BlobRow newRow) throws DataUnavailableException, InterruptedException {
    slots.restart(newRow);
    rebuild.release();
    long bytes = bytesMax(slots.layout(), needed);
    if (bytes > heldBytes) {
      memory.hold(bytes - heldBytes);
      heldBytes = bytes;
    }
    ask();
  }

  /** A part of a needed range that has arrived. Valid until this read is abandoned. */
  public ByteBuffer bytes(int slot, ByteRange part) {
    return slots.arrivedRead(slot).bytes(part);
  }

  public Slab slab(int slot) {
    return slots.arrivedRead(slot).data().slab();
  }

  /** Releases everything that has arrived or may still arrive, except for delivered bytes. */
  public void abandon() {
    slots.dropAll();
    rebuild.release();
    memory.giveBack(heldBytes);
    heldBytes = 0;
  }
}
