package dev.ashlar.storage.drive.cache;

import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.segment.SegmentFormat;

/** A byte range of a shard in the state that a view describes. */
public record ShardRange(ShardId shard, ShardView view, long offset, int length) {
  private static final int BLOCK = SegmentFormat.BLOCK;

  public int firstBlock() {
    return (int) (offset / BLOCK);
  }

  public int lastBlock() {
    return (int) ((end() - 1) / BLOCK);
  }

  public long end() {
    return offset + length;
  }

  /** Memory for all blocks of the range. */
  public int memoryBytes() {
    return (lastBlock() - firstBlock() + 1) * BLOCK;
  }
}
