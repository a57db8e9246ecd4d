package dev.ashlar.storage.drive.index;

import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.Extent.Stamp;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The patches of {@value #BLOCKS} adjacent blocks of a shard, stored as one row of the index
 * because changes and reads mostly concern adjacent blocks. All integers are big-endian.
 *
 * <pre>
 * of each patch, in the order of the blocks:
 *   flags 1: which block of the page (bits 0 to 2) | lies right behind the one before (8)
 *            | is short (16)
 *   unless it lies right behind the one before, which then is not short, was written in the same
 *   batch and has the same stamp:
 *     segment 8 | position 4 | sequence 8 | revision 8 | altered 8
 *   if it is short: length 4
 *   crc 4
 * </pre>
 */
public final class PatchPage {
  public static final int BLOCKS = 8;
  private static final int BLOCK_MASK = BLOCKS - 1;
  private static final int IS_BEHIND = 8;
  private static final int IS_SHORT = 16;

  /** Maximum size of a value. */
  static final int BYTES_MAX = BLOCKS * (1 + 36 + 4 + 4);

  private final @Nullable Extent[] patches = new Extent[BLOCKS];

  static int numberOf(int block) {
    return block / BLOCKS;
  }

  @Nullable Extent at(int block) {
    return patches[block & BLOCK_MASK];
  }

  void put(Extent patch) {
    patches[patch.firstBlock() & BLOCK_MASK] = patch;
  }

  void remove(int block) {
    patches[block & BLOCK_MASK] = null;
  }

  boolean isEmpty() {
    for (Extent patch : patches) {
      if (patch != null) {
        return false;
      }
    }
    return true;
  }

  void write(ByteBuffer value) {
    Extent before = null;
    for (Extent patch : patches) {
      if (patch == null) {
        continue;
      }
      boolean isBehind = before != null && isBehind(before, patch);
      boolean isShort = patch.length() < SegmentFormat.BLOCK;
      int flags = (isBehind ? IS_BEHIND : 0) | (isShort ? IS_SHORT : 0);
      value.put((byte) ((patch.firstBlock() & BLOCK_MASK) | flags));
      if (!isBehind) {
        value.putLong(patch.segment()).putInt(patch.position()).putLong(patch.sequence());
        value.putLong(patch.stamp().revision()).putLong(patch.stamp().altered());
      }
      if (isShort) {
        value.putInt(patch.length());
      }
      value.putInt(patch.crcs()[0]);
      before = patch;
    }
  }

  private static boolean isBehind(Extent before, Extent patch) {
    return before.length() == SegmentFormat.BLOCK
        && before.segment() == patch.segment()
        && before.position() + SegmentFormat.BLOCK == patch.position()
        && before.sequence() == patch.sequence()
        && before.stamp().equals(patch.stamp());
  }

  /** Decodes a page and adds the patches of blocks from the first to the last. */
  static void addTo(
      List<Extent> found, int number, ByteBuffer value, int firstBlock, int lastBlock) {
    long segment = 0;
    int position = 0;
    long sequence = 0;
    Stamp stamp = Stamp.ORIGINAL;
    while (value.hasRemaining()) {
      int flags = value.get();
      if ((flags & IS_BEHIND) != 0) {
        position += SegmentFormat.BLOCK;
      } else {
        segment = value.getLong();
        position = value.getInt();
        sequence = value.getLong();
        stamp = new Stamp(value.getLong(), value.getLong());
      }
      int length = (flags & IS_SHORT) != 0 ? value.getInt() : SegmentFormat.BLOCK;
      int crc = value.getInt();
      int block = number * BLOCKS + (flags & BLOCK_MASK);
      if (block >= firstBlock && block <= lastBlock) {
        int[] crcs = {crc};
        found.add(new Extent(block, length, segment, position, 0, sequence, crcs, stamp));
      }
    }
  }
}
