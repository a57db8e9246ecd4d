package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.CommittedAttempt;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The blocks that attempts have written last, in memory. What is appended changes the same blocks
 * again and again (a parity block once for each data shard of its stripe), and each time what they
 * were is needed: from here it comes without a look into the index, a read, and another thread.
 * Only for that: who reads a shard is to see what the drive has. Filled by the log's writer, for
 * any thread.
 */
final class RecentBlocks {
  /** A MiB, when all are in use. */
  static final int BLOCKS_MAX = 256;

  /** Longer pieces are not likely to be changed again soon. */
  private static final int PIECE_BLOCKS_MAX = 4;

  private static final int BLOCK = SegmentFormat.BLOCK;

  private final UnfoldedShards unfolded;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<ShardId, Map<Integer, Entry>> shards = new HashMap<>();
  private final @Nullable Entry[] entries = new Entry[BLOCKS_MAX];

  /** Of the entry that has been here for longest, once all are in use. */
  private int next;

  /** What was written last of a block. */
  private static final class Entry {
    final byte[] bytes = new byte[BLOCK];
    ShardId shard;
    int block;
    int length;
    long segment;
    int position;

    /** The revision of the shard that it became; 0: not folded, if it ever will be. */
    long revision;

    Entry(ShardId shard, int block) {
      this.shard = shard;
      this.block = block;
    }

    boolean liesIn(Extent extent) {
      return segment == extent.segment() && position == extent.positionOf(block);
    }
  }

  RecentBlocks(UnfoldedShards unfolded) {
    this.unfolded = unfolded;
  }

  /** After the index has been told: blocks are other than they were. */
  void written(Piece piece, ByteBuffer payload) {
    boolean isKept =
        piece.role() instanceof Piece.Intent && piece.extent().crcs().length <= PIECE_BLOCKS_MAX;
    lock.lock();
    try {
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
      int from = (block - extent.firstBlock()) * BLOCK;
      entry.length = Math.min(BLOCK, extent.length() - from);
      payload.get(payload.position() + from, entry.bytes, 0, entry.length);
      entry.segment = extent.segment();
      entry.position = extent.positionOf(block);
      entry.revision = 0;
    }
  }

  private Entry entry(ShardId shard, int block) {
    Map<Integer, Entry> ofShard = shards.get(shard);
    Entry present = ofShard == null ? null : ofShard.get(block);
    if (present != null) {
      return present;
    }
    Entry entry = entries[next];
    if (entry == null) {
      entry = new Entry(shard, block);
      entries[next] = entry;
    } else {
      forget(entry);
      entry.shard = shard;
      entry.block = block;
    }
    next = (next + 1) % entries.length;
    shards.computeIfAbsent(shard, id -> new HashMap<>()).put(block, entry);
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
      ofShard.keySet().removeIf(extent::covers);
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
      for (Entry entry : ofShard.values()) {
        if (extent.covers(entry.block)) {
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

  /**
   * Puts whole blocks into the memory, as {@link ShardReader#load} does, if all of them are here in
   * the state that is asked for; else returns 0.
   */
  int load(ShardReader.Range range, ByteBuffer memory) {
    UnfoldedShards.Known known = unfolded.find(range.shard());
    if (known == null || !known.has(range.view())) {
      return 0;
    }
    lock.lock();
    try {
      Map<Integer, Entry> ofShard = shards.get(range.shard());
      return ofShard == null ? 0 : load(ofShard, known, range, memory);
    } finally {
      lock.unlock();
    }
  }

  private static int load(
      Map<Integer, Entry> ofShard,
      UnfoldedShards.Known known,
      ShardReader.Range range,
      ByteBuffer memory) {
    int bytes = 0;
    for (int block = range.firstBlock(); block <= range.lastBlock(); block++) {
      Entry entry = ofShard.get(block);
      long needed = Math.min(BLOCK, range.end() - (long) block * BLOCK);
      if (entry == null || entry.length < needed || !isOf(entry, known, range.view())) {
        return 0;
      }
      int at = (block - range.firstBlock()) * BLOCK;
      memory.put(at, entry.bytes, 0, entry.length);
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
