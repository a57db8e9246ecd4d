package dev.ashlar.storage.drive.cache;

import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.segment.Checksum;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Memory for blocks. When it is used up, the oldest block that was not used during the last round
 * is replaced ("second chance"). Not thread-safe.
 */
final class BlockRing {
  private static final int BLOCK = SegmentFormat.BLOCK;

  /** Ends the search even if all blocks have been used. */
  private static final int PASSED_MAX = 64;

  private final Supplier<@Nullable ByteBuffer> memory;
  private final List<Block> blocks = new ArrayList<>();
  private final Deque<Block> free = new ArrayDeque<>();
  private int hand;

  /**
   * @param memory allocates memory for a block; null if there is none, which must not happen the
   *     first time
   */
  BlockRing(Supplier<@Nullable ByteBuffer> memory) {
    this.memory = memory;
  }

  /** A block that is unused or has to be evicted by the caller. */
  Block take() {
    Block unused = free.poll();
    if (unused != null) {
      return unused;
    }
    ByteBuffer bytes = memory.get();
    if (bytes == null) {
      return oldest();
    }
    Block block = new Block(this, bytes);
    blocks.add(block);
    return block;
  }

  private Block oldest() {
    Block block = next();
    for (int passed = 0; passed < PASSED_MAX && block.wasNeeded(); passed++) {
      block = next();
    }
    return block;
  }

  private Block next() {
    Block block = blocks.get(hand);
    hand = (hand + 1) % blocks.size();
    return block;
  }

  void giveBack(Block block) {
    free.add(block);
  }

  int size() {
    return blocks.size();
  }

  void clear() {
    blocks.clear();
    free.clear();
    hand = 0;
  }

  /** Memory for the latest content of a block. */
  static final class Block {
    private final BlockRing ring;
    private final ByteBuffer bytes;

    /** The shard of the block; null while unused. */
    private @Nullable ShardId shard;

    private int block;
    private int length;
    private int crc;
    private long segment;
    private int position;
    private boolean isNeeded;

    /** The revision of the shard with this content; 0: not folded. */
    private long revision;

    Block(BlockRing ring, ByteBuffer bytes) {
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

    void giveBack() {
      shard = null;
      ring.giveBack(this);
    }

    /** Copies the block from an extent whose payload starts at the buffer's position. */
    void write(Extent extent, ByteBuffer payload) {
      int number = block - extent.firstBlock();
      length = Math.min(BLOCK, extent.length() - number * BLOCK);
      bytes.put(0, payload, payload.position() + number * BLOCK, length);
      crc = extent.crcs()[number];
      segment = extent.segment();
      position = extent.positionOf(block);
      revision = 0;
    }

    /** Records the fold of an extent that covers the block. */
    void folded(Extent extent) {
      // The latest write need not be the newest change: an intent may be repeated late.
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

    /** Copies the block; false if the bytes fail their checksum. */
    boolean read(ByteBuffer target, int at, Checksum checksum) {
      target.put(at, bytes, 0, length);
      isNeeded = true;
      boolean isRight = checksum.of(bytes, 0, length) == crc;
      bytes.clear();
      return isRight;
    }

    /** Whether it was used since the last call. */
    boolean wasNeeded() {
      boolean wasNeeded = isNeeded;
      isNeeded = false;
      return wasNeeded;
    }
  }
}
