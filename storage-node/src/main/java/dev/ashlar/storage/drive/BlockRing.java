package dev.ashlar.storage.drive;

import java.nio.ByteBuffer;
import java.util.ArrayList;
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
  private int hand;

  /**
   * @param memory for a block more; null if there is none, which cannot be the first time
   */
  BlockRing(Supplier<@Nullable ByteBuffer> memory) {
    this.memory = memory;
  }

  /** One that is free, or has to become it. */
  RecentBlock take() {
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

  int size() {
    return blocks.size();
  }

  void clear() {
    blocks.clear();
    hand = 0;
  }
}
