package dev.ashlar.storage.drive.index;

import dev.ashlar.storage.drive.segment.Extent;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Where base extents are likely to begin: a point look-up is cheaper than a seek, most shards are
 * one extent from block 0 on, and long ones are extents of one length but for the last. For any
 * thread.
 */
final class ExtentPredictor {
  private static final int FIRST_EXTENT_BLOCKS = 64;

  /** Blocks of each extent of a long shard but its last, as found last. */
  private volatile int usualBlocks = FIRST_EXTENT_BLOCKS;

  /** A point look-up. */
  interface LookUp {
    @Nullable Extent at(int firstBlock) throws IOException;
  }

  /** The extent that holds the block, or null where a guess does not hit it. */
  @Nullable Extent find(int block, LookUp lookUp) throws IOException {
    if (block < FIRST_EXTENT_BLOCKS) {
      Extent first = lookUp.at(0);
      if (first != null && first.covers(block)) {
        return first;
      }
    }
    int usual = usualBlocks;
    Extent guessed = block < usual ? null : lookUp.at(block - block % usual);
    return guessed != null && guessed.covers(block) ? guessed : null;
  }

  /** Learns from a second extent that is as long as the first, and so not a last one. */
  void learn(Extent found) {
    int blocks = found.crcs().length;
    if (found.firstBlock() == blocks && usualBlocks != blocks) {
      usualBlocks = blocks;
    }
  }
}
