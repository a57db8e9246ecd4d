package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.CommittedAttempt;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Blocks that attempts have written lately, in memory. Parity blocks are changed again and again
 * (once for each data shard of a stripe when it is appended, and k times as often as data when it
 * is overwritten at random), and each time what they were is needed: from here it comes without a
 * look into the index, a read, and another thread. The page cache cannot have it, because what is
 * written goes past it to another place each time. Only for that: who reads a shard is to see what
 * the drive has. Filled by the log's writer, for any thread.
 *
 * <p>When there is no more memory, the block that has been here for longest makes room, unless it
 * was needed since it was last passed over (second chance): blocks of data, which are hardly ever
 * needed, do not push out parity.
 */
final class RecentBlocks implements AutoCloseable {
  /** Longer pieces are not likely to be changed again soon. */
  private static final int PIECE_BLOCKS_MAX = 4;

  private static final int BLOCK = SegmentFormat.BLOCK;

  private final UnfoldedShards unfolded;
  private final RecentMemory memory;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<ShardId, Map<Integer, Entry>> shards = new HashMap<>();
  private final List<Entry> entries = new ArrayList<>();
  private int chunks;
  private @Nullable ByteBuffer chunk;
  private boolean isClosed;

  /** Of the entry that is looked at first when one has to make room. */
  private int hand;

  /** What was written last of a block. */
  private static final class Entry {
    final ByteBuffer bytes;
    ShardId shard;
    int block;
    int length;
    long segment;
    int position;
    boolean isNeeded;

    /** The revision of the shard that it became; 0: not folded, if it ever will be. */
    long revision;

    Entry(ByteBuffer bytes, ShardId shard, int block) {
      this.bytes = bytes;
      this.shard = shard;
      this.block = block;
    }

    boolean liesIn(Extent extent) {
      return segment == extent.segment() && position == extent.positionOf(block);
    }
  }

  RecentBlocks(UnfoldedShards unfolded, RecentMemory memory) {
    this.unfolded = unfolded;
    this.memory = memory;
  }

  /** After the index has been told: blocks are other than they were. */
  void written(Piece piece, ByteBuffer payload) {
    boolean isKept =
        piece.role() instanceof Piece.Intent && piece.extent().crcs().length <= PIECE_BLOCKS_MAX;
    lock.lock();
    try {
      if (isClosed) {
        return;
      }
      if (isKept) {
        keep(piece.shard(), piece.extent(), payload);
      } else {
        forget(piece.shard(), piece.extent());
      }
    } finally {
      lock.unlock();
    }
  }

  private void keep(ShardId shard, Extent extent, ByteBuffer payload) {
    for (int block = extent.firstBlock(); block < extent.endBlock(); block++) {
      Entry entry = entry(shard, block);
      if (entry == null) {
        return;
      }
      int from = (block - extent.firstBlock()) * BLOCK;
      entry.length = Math.min(BLOCK, extent.length() - from);
      entry.bytes.put(0, payload, payload.position() + from, entry.length);
      entry.segment = extent.segment();
      entry.position = extent.positionOf(block);
      entry.revision = 0;
    }
  }

  /** Null if there is no memory at all. */
  private @Nullable Entry entry(ShardId shard, int block) {
    Map<Integer, Entry> ofShard = shards.get(shard);
    Entry present = ofShard == null ? null : ofShard.get(block);
    if (present != null) {
      return present;
    }
    Entry entry = newEntry(shard, block);
    if (entry == null) {
      if (entries.isEmpty()) {
        return null;
      }
      entry = oldest();
      forget(entry);
      entry.shard = shard;
      entry.block = block;
    }
    shards.computeIfAbsent(shard, id -> new HashMap<>()).put(block, entry);
    return entry;
  }

  /** Null if there is no more memory. */
  private @Nullable Entry newEntry(ShardId shard, int block) {
    if (chunk == null || !chunk.hasRemaining()) {
      chunk = memory.take(chunks);
      if (chunk == null) {
        return null;
      }
      chunks++;
    }
    Entry entry = new Entry(chunk.slice(chunk.position(), BLOCK), shard, block);
    chunk.position(chunk.position() + BLOCK);
    entries.add(entry);
    return entry;
  }

  /** Each is passed over at most once: then there is one that was not needed since. */
  private Entry oldest() {
    Entry entry = entries.get(hand);
    while (entry.isNeeded) {
      entry.isNeeded = false;
      hand = (hand + 1) % entries.size();
      entry = entries.get(hand);
    }
    hand = (hand + 1) % entries.size();
    return entry;
  }

  private void forget(Entry entry) {
    Map<Integer, Entry> ofShard = shards.get(entry.shard);
    if (ofShard != null && ofShard.remove(entry.block, entry) && ofShard.isEmpty()) {
      shards.remove(entry.shard);
    }
  }

  private void forget(ShardId shard, Extent extent) {
    Map<Integer, Entry> ofShard = shards.get(shard);
    if (ofShard != null) {
      for (int block = extent.firstBlock(); block < extent.endBlock(); block++) {
        ofShard.remove(block);
      }
      if (ofShard.isEmpty()) {
        shards.remove(shard);
      }
    }
  }

  /** After the index has been told: these are the shard's proper ones now. */
  void folded(Piece piece) {
    Extent extent = piece.extent();
    lock.lock();
    try {
      Map<Integer, Entry> ofShard = shards.get(piece.shard());
      if (ofShard == null) {
        return;
      }
      long revision = extent.stamp().revision();
      for (int block = extent.firstBlock(); block < extent.endBlock(); block++) {
        Entry entry = ofShard.get(block);
        if (entry != null) {
          // What was written last need not be the newest: an intent may come once more, late.
          boolean isThis = entry.liesIn(extent);
          boolean isOlder = entry.revision > 0 && entry.revision < revision;
          entry.revision = isThis ? revision : isOlder ? 0 : entry.revision;
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Nothing of the shard is left. */
  void removed(ShardId shard) {
    lock.lock();
    try {
      shards.remove(shard);
    } finally {
      lock.unlock();
    }
  }

  /** Nothing is found any more, and the memory is others'. */
  @Override
  public void close() {
    lock.lock();
    try {
      if (!isClosed) {
        isClosed = true;
        shards.clear();
        entries.clear();
        chunk = null;
        memory.giveBack(chunks);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Bytes of memory that it has taken. */
  long memoryBytes() {
    lock.lock();
    try {
      return isClosed ? 0 : (long) chunks * RecentMemory.CHUNK_BYTES;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Puts whole blocks into the target, as {@link ShardReader#load} does, if all of them are here in
   * the state that is asked for; else returns 0.
   */
  int load(ShardReader.Range range, ByteBuffer target) {
    UnfoldedShards.Known known = unfolded.find(range.shard());
    if (known == null || !known.has(range.view())) {
      return 0;
    }
    lock.lock();
    try {
      Map<Integer, Entry> ofShard = shards.get(range.shard());
      return ofShard == null ? 0 : load(ofShard, known, range, target);
    } finally {
      lock.unlock();
    }
  }

  private static int load(
      Map<Integer, Entry> ofShard,
      UnfoldedShards.Known known,
      ShardReader.Range range,
      ByteBuffer target) {
    int bytes = 0;
    for (int block = range.firstBlock(); block <= range.lastBlock(); block++) {
      Entry entry = ofShard.get(block);
      long needed = Math.min(BLOCK, range.end() - (long) block * BLOCK);
      if (entry == null || entry.length < needed || !isOf(entry, known, range.view())) {
        return 0;
      }
      int at = (block - range.firstBlock()) * BLOCK;
      target.put(at, entry.bytes, 0, entry.length);
      entry.isNeeded = true;
      bytes = at + entry.length;
    }
    return bytes;
  }

  /**
   * Whether it is what the view has of its block. Who writes the block again replaces the entry, or
   * removes it, before the view can have that, and a later fold of another piece makes it nothing:
   * so what was folded last is the newest that is.
   */
  private static boolean isOf(Entry entry, UnfoldedShards.Known known, ShardView view) {
    Extent newest = null;
    for (CommittedAttempt attempt : view.unfolded()) {
      if (attempt.revision() > known.folded()) {
        for (Piece piece : known.attempts().getOrDefault(attempt.attempt(), List.of())) {
          newest = piece.extent().covers(entry.block) ? piece.extent() : newest;
        }
      }
    }
    return newest != null
        ? entry.liesIn(newest)
        : entry.revision > 0 && entry.revision <= view.revision();
  }
}
