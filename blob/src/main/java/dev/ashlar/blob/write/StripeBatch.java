package dev.ashlar.blob.write;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.blob.context.Zeros;
import dev.ashlar.codec.ErasureCode;
import dev.ashlar.codec.checksum.Crc32c;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive stripes of a blob while they are filled and encoded. Bytes are laid out per shard as
 * they arrive, so that each drive receives one contiguous piece and one codec call encodes the
 * batch. Not thread-safe until sealed.
 */
public final class StripeBatch {
  /** One drive's part of a batch, and its memory, which other pieces may share. */
  public record Piece(ByteBuffer payload, int[] blockCrcs, Slab slab) {}

  /**
   * The batch's data in order.
   *
   * @param slabs retained for the reader
   */
  record Content(List<ByteBuffer> bytes, List<Slab> slabs) {
    void release() {
      slabs.forEach(Slab::release);
    }
  }

  private final Profile profile;
  private final SlabPool pool;
  private final int capacity;
  private final int shardCapacity;
  private final @Nullable Slab[] slabs;
  private final RequestMemory memory;
  private long unusedBytes;
  private int length;

  /**
   * @param capacity maximum bytes of data, a few stripes; whole stripes unless this is the blob's
   *     last batch
   * @param memory in which {@link #bytesMax} are held for it
   */
  public StripeBatch(Profile profile, SlabPool pool, int capacity, RequestMemory memory) {
    this.profile = profile;
    this.pool = pool;
    this.capacity = capacity;
    this.shardCapacity = (int) new StripeLayout(profile, capacity).shardLength(0);
    this.slabs = new Slab[profile.shards()];
    this.memory = memory;
    this.unusedBytes = bytesMax(profile, capacity);
  }

  /** Maximum direct memory of a batch of this capacity. */
  public static long bytesMax(Profile profile, int capacity) {
    StripeLayout layout = new StripeLayout(profile, capacity);
    int slabs = 1;
    if (!layout.isOneStrip()) {
      long strips = Math.ceilDiv(layout.paddedLength(), (long) profile.stripeUnit());
      slabs = (int) Math.min(profile.dataShards(), strips);
      slabs += profile.parityShards();
    }
    return (long) slabs * SlabPool.slabBytes((int) layout.shardLength(0));
  }

  /**
   * The capacity for a full window while memory is plentiful, otherwise for the least. Opens the
   * request's memory for the first batch.
   *
   * @param ofWindow the capacity for a window of this many bytes
   */
  public static int chooseCapacity(
      Profile profile, EngineConfig config, RequestMemory memory, IntUnaryOperator ofWindow)
      throws DataUnavailableException, InterruptedException {
    int capacity = ofWindow.applyAsInt(config.windowBytes());
    int least = ofWindow.applyAsInt(config.leastWindowBytes());
    if (!memory.isOpen()) {
      memory.open(bytesMax(profile, capacity), bytesMax(profile, least));
    }
    return memory.isRoomy() ? capacity : least;
  }

  public int length() {
    return length;
  }

  public boolean isFull() {
    return length == capacity;
  }

  /** Consumes bytes from {@code source} up to the capacity. */
  public void fill(ByteBuffer source) {
    int unit = profile.stripeUnit();
    while (source.hasRemaining() && length < capacity) {
      int slot = length % profile.stripeBytes() / unit;
      int inStrip = length % unit;
      int shardOffset = length / profile.stripeBytes() * unit + inStrip;
      int count = Math.min(Math.min(unit - inStrip, capacity - length), source.remaining());
      slab(slot).slice(shardOffset, count).put(source.slice(source.position(), count));
      source.position(source.position() + count);
      length += count;
    }
  }

  /** Removes and returns the data after the last whole stripe. */
  public ByteBuffer cutTail() {
    int count = length % profile.stripeBytes();
    ByteBuffer tail = ByteBuffer.allocate(count);
    int start = (length - count) / profile.dataShards();
    int unit = profile.stripeUnit();
    for (int at = 0; at < count; at += unit) {
      tail.put(slab(at / unit).slice(start, Math.min(unit, count - at)));
    }
    length -= count;
    return tail.flip();
  }

  /**
   * Encodes the data.
   *
   * @return the piece of each slot, null for a slot without bytes
   */
  public @Nullable Piece[] seal(ErasureCode code) {
    StripeLayout layout = new StripeLayout(profile, length);
    @Nullable Piece[] pieces = new Piece[profile.shards()];
    for (int slot = 0; slot < profile.dataShards(); slot++) {
      int shardLength = (int) layout.shardLength(slot);
      if (shardLength > 0) {
        ByteBuffer payload = slab(slot).slice(0, shardLength);
        int filled = (int) layout.shardRange(slot, new ByteRange(0, length)).length();
        payload.put(filled, Zeros.of(shardLength - filled), 0, shardLength - filled);
        pieces[slot] = new Piece(payload, Crc32c.blockCrcs(payload), slab(slot));
      }
    }
    if (layout.isOneStrip()) {
      // The coding matrix's first column is ones: parity of a single strip is a copy of it.
      for (int slot = profile.dataShards(); slot < profile.shards(); slot++) {
        pieces[slot] = pieces[0];
      }
    } else if (profile.parityShards() > 0) {
      encodeParity(code, layout, pieces);
    }
    return pieces;
  }

  private void encodeParity(ErasureCode code, StripeLayout layout, @Nullable Piece[] pieces) {
    int parityLength = (int) layout.shardLength(0);
    ByteBuffer[] data = new ByteBuffer[profile.dataShards()];
    for (int slot = 0; slot < data.length; slot++) {
      int shardLength = (int) layout.shardLength(slot);
      if (shardLength == 0) {
        data[slot] = Zeros.of(parityLength);
      } else {
        data[slot] = slab(slot).slice(0, parityLength);
        int missing = parityLength - shardLength;
        data[slot].put(shardLength, Zeros.of(missing), 0, missing);
      }
    }
    ByteBuffer[] parity = new ByteBuffer[profile.parityShards()];
    for (int row = 0; row < parity.length; row++) {
      parity[row] = slab(profile.dataShards() + row).slice(0, parityLength);
    }
    code.encode(data, parity);
    for (int row = 0; row < parity.length; row++) {
      int slot = profile.dataShards() + row;
      pieces[slot] = new Piece(parity[row], Crc32c.blockCrcs(parity[row]), slab(slot));
    }
  }

  Content content() {
    List<ByteBuffer> strips = new ArrayList<>();
    int unit = profile.stripeUnit();
    for (int at = 0; at < length; at += unit) {
      int slot = at / unit % profile.dataShards();
      int shardOffset = at / profile.stripeBytes() * unit;
      strips.add(slab(slot).slice(shardOffset, Math.min(unit, length - at)));
    }
    List<Slab> retained = new ArrayList<>();
    for (int slot = 0; slot < Math.min(strips.size(), profile.dataShards()); slot++) {
      retained.add(slab(slot).retain());
    }
    return new Content(strips, retained);
  }

  /** Releases the memory, except for pieces whose slab was retained. */
  public void release() {
    for (int slot = 0; slot < slabs.length; slot++) {
      Slab slab = slabs[slot];
      if (slab != null) {
        slabs[slot] = null;
        slab.release();
      }
    }
    memory.giveBack(unusedBytes);
    unusedBytes = 0;
  }

  private Slab slab(int slot) {
    Slab slab = slabs[slot];
    if (slab == null) {
      slab = pool.acquire(shardCapacity);
      slab.whenRecycled(memory::giveBack);
      unusedBytes -= slab.capacity();
      slabs[slot] = slab;
    }
    return slab;
  }
}
