package dev.ashlar.storage.drive.cache;

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
  /** Ends the search even if all blocks have been used. */
  private static final int PASSED_MAX = 64;

  private final Supplier<@Nullable ByteBuffer> memory;
  private final List<RecentBlock> blocks = new ArrayList<>();
  private final Deque<RecentBlock> free = new ArrayDeque<>();
  private int hand;

  /**
   * @param memory allocates memory for a block; null if there is none, which must not happen the
   *     first time
   */
  BlockRing(Supplier<@Nullable ByteBuffer> memory) {
    this.memory = memory;
  }

  /** A block that is unused or has to be evicted by the caller. */
  RecentBlock take() {
    RecentBlock unused = free.poll();
    if (unused != null) {
      return unused;
    }
    ByteBuffer bytes = memory.get();
    if (bytes == null) {
      return oldest();
    }
    RecentBlock block = new RecentBlock(this, bytes);
    blocks.add(block);
    return block;
  }

  private RecentBlock oldest() {
    RecentBlock block = next();
    for (int passed = 0; passed < PASSED_MAX && block.wasNeeded(); passed++) {
      block = next();
    }
    return block;
  }

  private RecentBlock next() {
    RecentBlock block = blocks.get(hand);
    hand = (hand + 1) % blocks.size();
    return block;
  }

  void giveBack(RecentBlock block) {
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
}
