package dev.ashlar.storage.drive.cache;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Room for blocks. When there is no more, the one makes room that has been here for longest and was
 * not needed for a round ("second chance"). For one thread at a time.
 */
final class BlockRing {
  /** A search for room ends, also where all have been needed. */
  private static final int PASSED_MAX = 64;

  private final Supplier<@Nullable ByteBuffer> memory;
  private final List<RecentBlock> blocks = new ArrayList<>();
  private final Deque<RecentBlock> free = new ArrayDeque<>();
  private int hand;

  /**
   * @param memory for a block more; null if there is none, which cannot be the first time
   */
  BlockRing(Supplier<@Nullable ByteBuffer> memory) {
    this.memory = memory;
  }

  /** One that is nobody's, or has to become that. */
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

  /** It was taken, and is nobody's again. */
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
