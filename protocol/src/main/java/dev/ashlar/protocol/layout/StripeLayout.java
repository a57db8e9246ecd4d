package dev.ashlar.protocol.layout;

import dev.ashlar.protocol.model.Profile;
import java.util.ArrayList;
import java.util.List;

/**
 * The layout of one blob. Byte {@code o} is in stripe {@code o / (k·u)}, strip {@code (o mod k·u) /
 * u}; a shard is the sequence of strips of one index. There is no padding: the last stripe's data
 * strips are as long as their data, its parity strips as long as its longest data strip (the
 * first). All lengths follow from the blob's length.
 *
 * <p>With a classic profile the last stripe is padded with zeros, and accesses are to whole
 * stripes.
 *
 * @param blobLength bytes, at least 0
 */
public record StripeLayout(Profile profile, long blobLength) {
  public StripeLayout {
    if (blobLength < 0) {
      throw new IllegalArgumentException("blob length " + blobLength);
    }
  }

  public long stripeOf(long blobOffset) {
    return blobOffset / profile.stripeBytes();
  }

  /** The data slot that holds this byte. */
  public int slotOf(long blobOffset) {
    return (int) (blobOffset % profile.stripeBytes() / profile.stripeUnit());
  }

  /** The offset in its shard of this byte of the blob. */
  public long shardOffsetOf(long blobOffset) {
    int unit = profile.stripeUnit();
    return stripeOf(blobOffset) * unit + blobOffset % unit;
  }

  /** Bytes of data on drives, including the padding of a classic profile. */
  public long paddedLength() {
    return accessed(new ByteRange(0, blobLength)).length();
  }

  /**
   * The range that an access to this range of the blob reads or writes: whole stripes if classic.
   */
  public ByteRange accessed(ByteRange blobRange) {
    if (!profile.isClassic() || blobRange.isEmpty()) {
      return blobRange;
    }
    long from = stripeOf(blobRange.offset()) * profile.stripeBytes();
    long to = (stripeOf(blobRange.end() - 1) + 1) * profile.stripeBytes();
    return new ByteRange(from, to - from);
  }

  /** Length of the shard in this slot; a parity shard is as long as data shard 0. */
  public long shardLength(int slot) {
    if (slot < 0 || slot >= profile.shards()) {
      throw new IllegalArgumentException("slot " + slot + " of " + profile);
    }
    return bytesBefore(paddedLength(), slot < profile.dataShards() ? slot : 0);
  }

  /**
   * The part of a data slot's shard that holds bytes of this range of the blob: one piece, or none.
   */
  public ByteRange shardRange(int dataSlot, ByteRange blobRange) {
    checkDataSlot(dataSlot);
    long from = bytesBefore(blobRange.offset(), dataSlot);
    return new ByteRange(from, bytesBefore(blobRange.end(), dataSlot) - from);
  }

  /**
   * The slots whose shards a change of this range touches, ascending: the data slots that hold
   * bytes of it and, unless it is empty, every parity slot; all if classic.
   */
  public List<Integer> touchedSlots(ByteRange blobRange) {
    List<Integer> slots = new ArrayList<>();
    if (!blobRange.isEmpty()) {
      for (int slot = 0; slot < profile.shards(); slot++) {
        if (slot >= profile.dataShards() || !shardRange(slot, accessed(blobRange)).isEmpty()) {
          slots.add(slot);
        }
      }
    }
    return slots;
  }

  /** How many of the blob's first bytes lie in this data slot. */
  private long bytesBefore(long blobOffset, int dataSlot) {
    long inLastStripe = blobOffset % profile.stripeBytes() - (long) dataSlot * profile.stripeUnit();
    return stripeOf(blobOffset) * profile.stripeUnit()
        + Math.clamp(inLastStripe, 0, profile.stripeUnit());
  }

  /** Whether all data is in one strip, so that every parity shard is a copy of data shard 0. */
  public boolean isOneStrip() {
    return paddedLength() <= profile.stripeUnit();
  }

  /** Bytes on drives, without headers and checksums. */
  public long storedBytes() {
    long sum = 0;
    for (int slot = 0; slot < profile.shards(); slot++) {
      sum += shardLength(slot);
    }
    return sum;
  }

  private void checkDataSlot(int slot) {
    if (slot < 0 || slot >= profile.dataShards()) {
      throw new IllegalArgumentException("data slot " + slot + " of " + profile);
    }
  }
}
