package dev.ashlar.storage.drive.index;

import dev.ashlar.storage.drive.segment.Extent;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Predicts where base extents begin: a point lookup is cheaper than a seek, most shards are one
 * extent from block 0 on, and long shards consist of extents of equal length except for the last.
 * Thread-safe.
 */
final class ExtentPredictor {
  private static final int FIRST_EXTENT_BLOCKS = 64;

  /** Extent length, in blocks, last seen in a long shard. */
  private volatile int usualBlocks = FIRST_EXTENT_BLOCKS;

  /** A point lookup. */
  interface LookUp {
    @Nullable Extent at(int firstBlock) throws IOException;
  }

  /** The extent with this block, or null if no prediction matches. */
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

  /** Learns from a second extent of the same length as the first, which cannot be a last one. */
  void learn(Extent found) {
    int blocks = found.crcs().length;
    if (found.firstBlock() == blocks && usualBlocks != blocks) {
      usualBlocks = blocks;
    }
  }
}
