package dev.ashlar.storage.drive.cache;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Direct memory for blocks that changes wrote lately. The drives of a process share it: who needs
 * more takes it while there is any, and keeps it. Thread-safe.
 */
public final class RecentBlockMemory {
  public static final int CHUNK_BYTES = 256 << 10;

  private static final Logger LOG = LoggerFactory.getLogger(RecentBlockMemory.class);

  /** A MiB. */
  private static final int OWN_BLOCKS = 256;

  private final int ownBlocks;
  private final IntFunction<ByteBuffer> allocator;
  private final AtomicLong leftBytes;

  /** To be refused takes half a second and a garbage collection: nobody tries again. */
  private volatile boolean wasRefused;

  public RecentBlockMemory(long bytes) {
    this(bytes, OWN_BLOCKS, ByteBuffer::allocateDirect);
  }

  public RecentBlockMemory(long bytes, int ownBlocks, IntFunction<ByteBuffer> allocator) {
    this.ownBlocks = ownBlocks;
    this.allocator = allocator;
    leftBytes = new AtomicLong(bytes);
  }

  /** What a drive may have of the heap, for either kind of blocks, whatever is taken from here. */
  public int ownBlocks() {
    return ownBlocks;
  }

  /** A chunk; null if there is none left. */
  public @Nullable ByteBuffer take() {
    if (wasRefused) {
      return null;
    }
    if (leftBytes.addAndGet(-CHUNK_BYTES) < 0) {
      giveBack(1);
      return null;
    }
    try {
      return allocator.apply(CHUNK_BYTES);
    } catch (OutOfMemoryError e) {
      wasRefused = true;
      giveBack(1);
      LOG.warn(
          "direct memory is used up: until the next start no more of it is for blocks that were"
              + " changed lately, and their drives read more",
          e);
      return null;
    }
  }

  void giveBack(int chunks) {
    leftBytes.addAndGet((long) chunks * CHUNK_BYTES);
  }
}
