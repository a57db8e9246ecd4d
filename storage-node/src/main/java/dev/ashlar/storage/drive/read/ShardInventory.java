package dev.ashlar.storage.drive.read;

import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds missing parts of a shard by the index alone. */
public final class ShardInventory {
  private static final int BLOCK = SegmentFormat.BLOCK;

  /** Blocks checked together. */
  private static final int BLOCKS = 4096;

  private ShardInventory() {}

  /**
   * The first block that is incomplete in the state of the view; null if all are complete.
   *
   * @param length length of the shard in that state, at least 1
   */
  public static @Nullable ByteRange firstMissing(
      ShardIndex index, ShardId shard, ShardView view, long length) throws IOException {
    ByteRange first = new ByteRange(0, Math.min(BLOCK, length));
    int last = (int) ((length - 1) / BLOCK);
    try (ShardIndex.Rows rows = index.rows()) {
      List<Extent> unfolded =
          ShardReader.unfolded(rows, shard, view, 0, last).stream()
              .map(ShardPiece::extent)
              .toList();
      for (int from = 0; from <= last; from += BLOCKS) {
        int to = Math.min(last, from + BLOCKS - 1);
        List<Extent> extents = new ArrayList<>(rows.bases(shard, from, to));
        extents.addAll(rows.patches(shard, to, to)); // a patch may lengthen the last block
        extents.addAll(unfolded);
        int missing = firstMissing(extents, from, to, length);
        if (missing <= to) {
          long offset = (long) missing * BLOCK;
          return new ByteRange(offset, Math.min(BLOCK, length - offset));
        }
      }
      return null;
    } catch (ShardException e) {
      return first; // changes are missing
    }
  }

  private static int firstMissing(List<Extent> extents, int from, int to, long length) {
    BitSet present = new BitSet(to - from + 1);
    for (Extent extent : extents) {
      boolean isShort = extent.end() < Math.min(length, (long) extent.endBlock() * BLOCK);
      int first = Math.max(from, extent.firstBlock());
      int behind = Math.min(to + 1, extent.endBlock() - (isShort ? 1 : 0));
      if (first < behind) {
        present.set(first - from, behind - from);
      }
    }
    return from + present.nextClearBit(0);
  }
}
