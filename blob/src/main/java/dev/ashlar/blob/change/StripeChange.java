package dev.ashlar.blob.change;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.change.WritePlanner.StripePlan;
import dev.ashlar.blob.change.WritePlanner.StripePlan.Mode;
import dev.ashlar.blob.change.WritePlanner.StripePlan.StripRange;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.blob.context.Zeros;
import dev.ashlar.blob.read.WindowRead;
import dev.ashlar.blob.write.SlotWrites.SlotWrite;
import dev.ashlar.codec.checksum.Crc32c;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Changes a part of one stripe that may keep other bytes: reads the old bytes that are needed, and
 * prepares the write to each drive. Used by one thread, once.
 */
final class StripeChange {
  private final EngineContext engine;
  private final BlobChanger.BlobAttempt attempt;
  private final Profile profile;
  private final long stripe;
  private final int lengthBefore;
  private final int from;
  private final int to;
  private final ByteBuffer bytes;
  private final StripePlan plan;
  private final ByteRange[] needed;
  private final RequestMemory memory;
  private final List<Slab> slabs = new ArrayList<>();
  private long unusedBytes;

  /**
   * @param from offset in the stripe
   * @param bytes all new bytes of the stripe
   * @param missing slots that receive nothing
   * @throws DataUnavailableException if too many slots are missing
   */
  StripeChange(
      EngineContext engine,
      BlobChanger.BlobAttempt attempt,
      long stripe,
      int from,
      ByteBuffer bytes,
      BitSet missing,
      RequestMemory memory)
      throws DataUnavailableException {
    this.engine = engine;
    this.attempt = attempt;
    this.profile = attempt.profile();
    checkEnough(missing);
    this.stripe = stripe;
    long before = attempt.base().getLength() - stripe * profile.stripeBytes();
    this.lengthBefore = Math.clamp(before, 0, profile.stripeBytes());
    this.from = from;
    this.to = from + bytes.remaining();
    this.bytes = bytes;
    this.plan = WritePlanner.plan(profile, lengthBefore, from, to, missing);
    this.needed = new ByteRange[profile.dataShards()];
    Arrays.fill(needed, new ByteRange(0, 0));
    plan.reads().forEach(read -> needed[read.slot()] = inShard(read.range()));
    this.memory = memory;
  }

  /** Drives may have failed since the last write: too few slots allow no plan. */
  private void checkEnough(BitSet missing) throws DataUnavailableException {
    int usable = profile.shards() - missing.cardinality();
    if (usable < profile.durableMinimum()) {
      throw new DataUnavailableException(
          Reason.TOO_FEW_DRIVES,
          String.format(
              "%d of %d drives accept changes of blob %s, %d are required",
              usable, profile.shards(), attempt.blob(), profile.durableMinimum()));
    }
  }

  /** Maximum direct memory, including the reads. */
  long bytesMax() {
    return ownBytesMax() + readBytesMax();
  }

  private long readBytesMax() {
    return plan.reads().isEmpty() ? 0 : WindowRead.bytesMax(attempt.layout(), needed);
  }

  private long ownBytesMax() {
    int slabCount = plan.mode() == Mode.ENCODE ? profile.shards() : 2 * plan.changes().size();
    return (long) slabCount * SlabPool.slabBytes((int) plan.parity().length());
  }

  /** The same for any part of any stripe. */
  static long bytesMax(Profile profile) {
    long slab = SlabPool.slabBytes(profile.stripeUnit());
    return (2L * profile.shards() + 2L * profile.dataShards()) * slab;
  }

  /** Prepares the writes, including those to missing slots. */
  List<SlotWrite> writes() throws DataUnavailableException, InterruptedException {
    engine
        .metrics()
        .stripeChanged(plan.mode() == Mode.ENCODE, plan.readOperations(), plan.writeOperations());
    unusedBytes = ownBytesMax();
    WindowRead old = null;
    try {
      if (!plan.reads().isEmpty()) {
        old =
            WindowRead.start(
                engine, attempt.base(), needed, new HashSet<>(), memory, this::changedMeanwhile);
        old.await();
      }
      return plan.mode() == Mode.ENCODE ? encoded(old) : deltas(old);
    } finally {
      if (old != null) {
        old.abandon();
      }
      slabs.forEach(Slab::release);
      memory.giveBack(unusedBytes);
    }
  }

  private BlobRow changedMeanwhile(BlobRow stale) throws DataUnavailableException {
    throw new DataUnavailableException(
        Reason.CONFLICT, "changed concurrently: blob " + attempt.blob());
  }

  private List<SlotWrite> encoded(@Nullable WindowRead old) {
    ByteRange hull = plan.parity();
    ByteBuffer[] data = new ByteBuffer[profile.dataShards()];
    for (int slot = 0; slot < data.length; slot++) {
      data[slot] = untouched(old, slot, hull);
    }
    List<SlotWrite> writes = new ArrayList<>();
    for (StripRange change : plan.changes()) {
      // Without parity only the strip's own blocks are needed.
      ByteRange range = profile.parityShards() == 0 ? change.range() : hull;
      Slab slab = slab((int) range.length());
      ByteBuffer all = slab.slice(0, (int) range.length());
      complete(old, change.slot(), range, all);
      data[change.slot()] = all;
      int start = (int) (change.range().offset() - range.offset());
      writes.add(
          bytesWrite(
              change.slot(),
              change.range().offset(),
              slab.slice(start, (int) change.range().length()),
              slab));
    }
    addParity(data, writes);
    return writes;
  }

  private void addParity(ByteBuffer[] data, List<SlotWrite> writes) {
    int length = (int) plan.parity().length();
    ByteBuffer[] parity = new ByteBuffer[profile.parityShards()];
    int first = slabs.size();
    for (int row = 0; row < parity.length; row++) {
      parity[row] = slab(length).slice(0, length);
    }
    if (parity.length > 0) {
      engine.codes().of(profile).encode(data, parity);
    }
    for (int row = 0; row < parity.length; row++) {
      writes.add(
          bytesWrite(
              profile.dataShards() + row,
              plan.parity().offset(),
              parity[row],
              slabs.get(first + row)));
    }
  }

  /** The strip's bytes in this range before the change; zeros beyond its end. */
  private ByteBuffer untouched(@Nullable WindowRead old, int slot, ByteRange range) {
    long end = Math.min(range.end(), stripBefore(slot));
    if (old == null || end <= range.offset() || needed[slot].isEmpty() || isChanged(slot)) {
      return Zeros.of((int) range.length());
    }
    ByteBuffer present = old(old, slot, range.offset(), end);
    if (end == range.end()) {
      return present;
    }
    ByteBuffer padded = slab((int) range.length()).slice(0, (int) range.length());
    padded.put(present);
    padded.put(Zeros.of(padded.remaining()));
    return padded.flip();
  }

  private boolean isChanged(int slot) {
    int start = slot * profile.stripeUnit();
    return profile.isClassic() || (from < start + profile.stripeUnit() && start < to);
  }

  private List<SlotWrite> deltas(@Nullable WindowRead old) {
    List<ShardIntent.Delta> deltas = new ArrayList<>();
    List<Slab> deltaSlabs = new ArrayList<>();
    List<SlotWrite> writes = new ArrayList<>();
    for (StripRange change : plan.changes()) {
      ByteRange range = change.range();
      int length = (int) range.length();
      Slab slab = slab(length);
      ByteBuffer after = slab.slice(0, length);
      complete(old, change.slot(), range, after);
      Slab deltaSlab = slab(length);
      ByteBuffer delta = deltaSlab.slice(0, length).put(after.duplicate()).flip();
      long end = Math.min(range.end(), stripBefore(change.slot()));
      if (old != null && range.offset() < end) {
        addTo(delta, old(old, change.slot(), range.offset(), end));
      }
      deltas.add(
          new ShardIntent.Delta(
              change.slot(), inShard(range).offset(), delta, Crc32c.blockCrcs(delta)));
      deltaSlabs.add(deltaSlab);
      writes.add(bytesWrite(change.slot(), range.offset(), after, slab));
    }
    for (int slot = profile.dataShards(); slot < profile.shards(); slot++) {
      deltaSlabs.forEach(Slab::retain);
      ShardIntent intent = new ShardIntent.Deltas(attempt.target(slot), profile, deltas);
      writes.add(
          new SlotWrite(
              slot,
              (store, told) -> store.prepare(intent, told),
              () -> deltaSlabs.forEach(Slab::release)));
    }
    return writes;
  }

  /** Fills in this range of a strip after the change: old, new, old bytes, then zeros. */
  private void complete(@Nullable WindowRead old, int slot, ByteRange range, ByteBuffer out) {
    long start = (long) slot * profile.stripeUnit();
    long newFrom = Math.clamp(from - start, range.offset(), range.end());
    long newTo = Math.clamp(to - start, newFrom, range.end());
    long oldEnd = Math.min(range.end(), stripBefore(slot));
    if (old != null && range.offset() < newFrom) {
      out.put(old(old, slot, range.offset(), newFrom));
    }
    if (newFrom < newTo) {
      int begin = (int) (bytes.position() + start + newFrom - from);
      out.put(bytes.slice(begin, (int) (newTo - newFrom)));
    }
    if (old != null && newTo < oldEnd) {
      out.put(old(old, slot, newTo, oldEnd));
    }
    out.put(Zeros.of(out.remaining())).flip();
  }

  private SlotWrite bytesWrite(int slot, long inStrip, ByteBuffer payload, Slab slab) {
    slab.retain();
    long offset = stripe * profile.stripeUnit() + inStrip;
    ShardIntent intent =
        new ShardIntent.Bytes(attempt.target(slot), offset, payload, Crc32c.blockCrcs(payload));
    return new SlotWrite(slot, (store, told) -> store.prepare(intent, told), slab::release);
  }

  private ByteBuffer old(WindowRead read, int slot, long begin, long end) {
    return read.bytes(slot, inShard(new ByteRange(begin, end - begin)));
  }

  private ByteRange inShard(ByteRange inStrip) {
    return new ByteRange(stripe * profile.stripeUnit() + inStrip.offset(), inStrip.length());
  }

  private int stripBefore(int slot) {
    return Math.clamp(lengthBefore - slot * profile.stripeUnit(), 0, profile.stripeUnit());
  }

  /** Adds in the code's field: exclusive or. */
  private static void addTo(ByteBuffer sum, ByteBuffer other) {
    int count = other.remaining();
    int i = 0;
    for (; i + Long.BYTES <= count; i += Long.BYTES) {
      sum.putLong(i, sum.getLong(i) ^ other.getLong(other.position() + i));
    }
    for (; i < count; i++) {
      sum.put(i, (byte) (sum.get(i) ^ other.get(other.position() + i)));
    }
  }

  private Slab slab(int length) {
    Slab slab = engine.pool().acquire(length);
    slab.whenRecycled(memory::giveBack);
    unusedBytes -= slab.capacity();
    slabs.add(slab);
    return slab;
  }
}
