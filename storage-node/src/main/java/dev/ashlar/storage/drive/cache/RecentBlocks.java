package dev.ashlar.storage.drive.cache;

import dev.ashlar.protocol.client.CommittedAttempt;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.protocol.process.RateLimitedLog;
import dev.ashlar.storage.drive.segment.Checksum;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Recently written blocks in memory. Parity blocks change repeatedly: once for each data shard when
 * a stripe is appended, and k times as often as data in random overwrites. Each change needs the
 * former content, which this cache provides without an index lookup, a read or another thread. The
 * page cache cannot, because writes bypass it and go to a new place each time. The cache serves
 * changes only; client reads go to the drive. Filled by the log writer, read by any thread.
 */
public final class RecentBlocks implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RecentBlocks.class);
  private static final RateLimitedLog CORRUPTED = new RateLimitedLog(LOG, Level.ERROR);

  /** Longer pieces are unlikely to change again soon. */
  private static final int PIECE_BLOCKS_MAX = 4;

  private static final int BLOCK = SegmentFormat.BLOCK;

  private final UnfoldedShards unfolded;
  private final RecentBlockMemory memory;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<ShardId, Map<Integer, BlockRing.Block>> shards = new HashMap<>();

  /** Blocks that may never be needed, such as all data blocks. */
  private final BlockRing last = new BlockRing(this::ownMemory);

  /** Blocks made from former content, which are likely to be needed for the next change. */
  private final BlockRing needed = new BlockRing(this::sharedMemory);

  private int chunks;
  private @Nullable ByteBuffer chunk;
  private boolean isClosed;

  RecentBlocks(UnfoldedShards unfolded, RecentBlockMemory memory) {
    this.unfolded = unfolded;
    this.memory = memory;
  }

  private @Nullable ByteBuffer ownMemory() {
    return ofHeap(last);
  }

  private @Nullable ByteBuffer ofHeap(BlockRing ring) {
    return ring.size() < memory.ownBlocks() ? ByteBuffer.allocate(BLOCK) : null;
  }

  private @Nullable ByteBuffer sharedMemory() {
    if (chunk == null || !chunk.hasRemaining()) {
      chunk = memory.take();
      if (chunk == null) {
        return ofHeap(needed);
      }
      chunks++;
    }
    ByteBuffer block = chunk.slice(chunk.position(), BLOCK);
    chunk.position(chunk.position() + BLOCK);
    return block;
  }

  /**
   * Records new content of blocks after the index was updated.
   *
   * @param isMadeFromOld whether the content was made from the former content
   */
  public void written(ShardPiece piece, ByteBuffer payload, boolean isMadeFromOld) {
    Extent extent = piece.extent();
    boolean isKept =
        piece.role() instanceof ShardPiece.Intent && extent.crcs().length <= PIECE_BLOCKS_MAX;
    lock.lock();
    try {
      for (int block = extent.firstBlock(); block < extent.endBlock(); block++) {
        if (isKept && !isClosed) {
          room(piece.shard(), block, isMadeFromOld).write(extent, payload);
        } else {
          forget(piece.shard(), block);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private BlockRing.Block room(ShardId shard, int block, boolean isMadeFromOld) {
    BlockRing.Block present = find(shard, block);
    if (present != null && (present.ring() == needed || !isMadeFromOld)) {
      return present;
    }
    forget(shard, block);
    BlockRing.Block room = (isMadeFromOld ? needed : last).take();
    ShardId former = room.shard();
    if (former != null) {
      remove(former, room.block());
    }
    room.become(shard, block);
    shards.computeIfAbsent(shard, id -> new HashMap<>()).put(block, room);
    return room;
  }

  private BlockRing.@Nullable Block find(ShardId shard, int block) {
    Map<Integer, BlockRing.Block> ofShard = shards.get(shard);
    return ofShard == null ? null : ofShard.get(block);
  }

  private void forget(ShardId shard, int block) {
    BlockRing.Block forgotten = remove(shard, block);
    if (forgotten != null) {
      forgotten.giveBack();
    }
  }

  private BlockRing.@Nullable Block remove(ShardId shard, int block) {
    Map<Integer, BlockRing.Block> ofShard = shards.get(shard);
    if (ofShard == null) {
      return null;
    }
    BlockRing.Block removed = ofShard.remove(block);
    if (ofShard.isEmpty()) {
      shards.remove(shard);
    }
    return removed;
  }

  /** Marks blocks as folded, before readers of the index see the fold. */
  public void folded(ShardPiece piece) {
    Extent extent = piece.extent();
    lock.lock();
    try {
      for (int block = extent.firstBlock(); block < extent.endBlock(); block++) {
        BlockRing.Block recent = find(piece.shard(), block);
        if (recent != null) {
          recent.folded(extent);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  public void removed(ShardId shard) {
    lock.lock();
    try {
      Map<Integer, BlockRing.Block> ofShard = shards.remove(shard);
      if (ofShard != null) {
        ofShard.values().forEach(BlockRing.Block::giveBack);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Empties the cache for good and returns its memory. */
  @Override
  public void close() {
    lock.lock();
    try {
      isClosed = true;
      shards.clear();
      last.clear();
      needed.clear();
      chunk = null;
      memory.giveBack(chunks);
      chunks = 0;
    } finally {
      lock.unlock();
    }
  }

  /** Memory used by the cache, in bytes. */
  public long bytes() {
    lock.lock();
    try {
      return (long) BLOCK * (last.size() + needed.size());
    } finally {
      lock.unlock();
    }
  }

  /**
   * Copies the blocks of a range to the target if all of them are present in the requested state.
   */
  public int load(ShardRange range, ByteBuffer target) {
    UnfoldedShards.Known known = unfolded.find(range.shard());
    if (known == null || !known.has(range.view())) {
      return 0;
    }
    lock.lock();
    try {
      List<BlockRing.Block> blocks = all(range, known);
      return blocks == null ? 0 : read(range.shard(), blocks, target);
    } finally {
      lock.unlock();
    }
  }

  /** The blocks of a range; null if one is missing. */
  private @Nullable List<BlockRing.Block> all(ShardRange range, UnfoldedShards.Known known) {
    List<BlockRing.Block> blocks = new ArrayList<>();
    for (int block = range.firstBlock(); block <= range.lastBlock(); block++) {
      BlockRing.Block recent = find(range.shard(), block);
      long bytes = Math.min(BLOCK, range.end() - (long) block * BLOCK);
      if (recent == null || recent.length() < bytes || !isOf(recent, known, range.view())) {
        return null;
      }
      blocks.add(recent);
    }
    return blocks;
  }

  private int read(ShardId shard, List<BlockRing.Block> blocks, ByteBuffer target) {
    Checksum checksum = new Checksum();
    int bytes = 0;
    for (int i = 0; i < blocks.size(); i++) {
      BlockRing.Block recent = blocks.get(i);
      if (!recent.read(target, i * BLOCK, checksum)) {
        CORRUPTED.log(
            "Block %s of %s was corrupted in memory; it is read from the drive instead"
                .formatted(recent.block(), shard));
        forget(shard, recent.block());
        return 0;
      }
      bytes = i * BLOCK + recent.length();
    }
    return bytes;
  }

  /**
   * Whether this is the block's content in the view. A later write of the block replaces or removes
   * it before the view can include that write, and a later fold of another piece invalidates it: so
   * the last folded content is the newest.
   */
  private static boolean isOf(BlockRing.Block recent, UnfoldedShards.Known known, ShardView view) {
    Extent newest = null;
    for (CommittedAttempt attempt : view.unfoldedAfter(known.folded())) {
      for (ShardPiece piece : known.attempts().getOrDefault(attempt.attempt(), List.of())) {
        newest = piece.extent().covers(recent.block()) ? piece.extent() : newest;
      }
    }
    return newest != null
        ? recent.liesIn(newest)
        : recent.revision() > 0 && recent.revision() <= view.revision();
  }
}
