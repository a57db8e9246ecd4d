package dev.ashlar.storage.drive;

import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.index.FoldState;
import dev.ashlar.storage.drive.index.MemoryShardIndex;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.ShardPiece;
import dev.ashlar.storage.io.SimulatedDrive;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;

/**
 * A block that the index names.
 *
 * @param position where its bytes lie in the segment
 */
record LiveBlock(
    ShardId shard, ShardPiece.Role role, int block, long segment, int position, int length) {
  /** All of them. */
  static List<LiveBlock> all(MemoryShardIndex index) {
    TreeSet<BlobId> blobs = new TreeSet<>();
    index.forEachShard(shard -> blobs.add(shard.blob()));
    List<LiveBlock> found = new ArrayList<>();
    try {
      for (BlobId blob : blobs) {
        index.forEachRow(
            blob,
            new ShardIndex.RowVisitor() {
              @Override
              public void piece(ShardPiece piece) {
                add(piece, found);
              }

              @Override
              public void folded(ShardId shard, FoldState folded) {}
            });
      }
    } catch (IOException e) {
      throw new AssertionError("an index in memory", e);
    }
    return found;
  }

  private static void add(ShardPiece piece, List<LiveBlock> found) {
    Extent extent = piece.extent();
    for (int i = 0; i < extent.crcs().length; i++) {
      int from = i * SegmentFormat.BLOCK;
      boolean isBody = from < extent.bodyLength();
      found.add(
          new LiveBlock(
              piece.shard(),
              piece.role(),
              extent.firstBlock() + i,
              extent.segment(),
              isBody ? extent.position() + from : extent.tailPosition(),
              Math.min(SegmentFormat.BLOCK, extent.length() - from)));
    }
  }

  String file() {
    return Segment.fileName(segment);
  }

  long offset() {
    return (long) block * SegmentFormat.BLOCK;
  }

  void flip(SimulatedDrive disk, Random random) {
    disk.flipBit(file(), position + random.nextInt(length), random.nextInt(8));
  }
}
