package dev.ashlar.storage.drive.cache;

import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.segment.Checksum;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Room for what was written last of a block. */
final class RecentBlock {
  private static final int BLOCK = SegmentFormat.BLOCK;

  private final BlockRing ring;
  private final ByteBuffer bytes;

  /** Whose block it is; null: nobody's. */
  private @Nullable ShardId shard;

  private int block;
  private int length;
  private int crc;
  private long segment;
  private int position;
  private boolean isNeeded;

  /** The revision of the shard that it became; 0: not folded, if it ever will be. */
  private long revision;

  RecentBlock(BlockRing ring, ByteBuffer bytes) {
    this.ring = ring;
    this.bytes = bytes;
  }

  BlockRing ring() {
    return ring;
  }

  @Nullable ShardId shard() {
    return shard;
  }

  int block() {
    return block;
  }

  int length() {
    return length;
  }

  long revision() {
    return revision;
  }

  void become(ShardId newShard, int newBlock) {
    shard = newShard;
    block = newBlock;
    isNeeded = false;
  }

  /** It is nobody's any more. */
  void giveBack() {
    shard = null;
    ring.giveBack(this);
  }

  /** Takes its bytes from those of an extent, which begin at the payload's position. */
  void write(Extent extent, ByteBuffer payload) {
    int number = block - extent.firstBlock();
    length = Math.min(BLOCK, extent.length() - number * BLOCK);
    bytes.put(0, payload, payload.position() + number * BLOCK, length);
    crc = extent.crcs()[number];
    segment = extent.segment();
    position = extent.positionOf(block);
    revision = 0;
  }

  /** An extent that covers it has been folded. */
  void folded(Extent extent) {
    // What was written last need not be the newest: an intent may come once more, late.
    long newRevision = extent.stamp().revision();
    if (liesIn(extent)) {
      revision = newRevision;
    } else if (revision < newRevision) {
      revision = 0;
    }
  }

  boolean liesIn(Extent extent) {
    return segment == extent.segment() && position == extent.positionOf(block);
  }

  /** Puts its bytes there; false if they are not what was written. */
  boolean read(ByteBuffer target, int at, Checksum checksum) {
    target.put(at, bytes, 0, length);
    isNeeded = true;
    boolean isRight = checksum.of(bytes, 0, length) == crc;
    bytes.clear();
    return isRight;
  }

  /** Whether it was needed since this was asked. */
  boolean wasNeeded() {
    boolean wasNeeded = isNeeded;
    isNeeded = false;
    return wasNeeded;
  }
}
