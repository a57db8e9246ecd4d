package dev.ashlar.storage.drive.cache;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Direct memory for recently changed blocks, shared by the drives of a process. A drive takes more
 * while there is any and keeps it. Thread-safe.
 */
public final class RecentBlockMemory {
  public static final int CHUNK_BYTES = 256 << 10;

  private static final Logger LOG = LoggerFactory.getLogger(RecentBlockMemory.class);

  /** One MiB. */
  private static final int OWN_BLOCKS = 256;

  private final int ownBlocks;
  private final IntFunction<ByteBuffer> allocator;
  private final AtomicLong leftBytes;

  /** A refused allocation takes half a second and a garbage collection, so it is not repeated. */
  private volatile boolean wasRefused;

  public RecentBlockMemory(long bytes) {
    this(bytes, OWN_BLOCKS, ByteBuffer::allocateDirect);
  }

  public RecentBlockMemory(long bytes, int ownBlocks, IntFunction<ByteBuffer> allocator) {
    this.ownBlocks = ownBlocks;
    this.allocator = allocator;
    leftBytes = new AtomicLong(bytes);
  }

  /** Heap blocks that each drive may use for either kind of blocks, in addition to this memory. */
  public int ownBlocks() {
    return ownBlocks;
  }

  /** Allocates a chunk; null if none is left. */
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
          "Direct memory is exhausted: no more of it is used for recently changed blocks"
              + " until the next start, and their drives read more",
          e);
      return null;
    }
  }

  void giveBack(int chunks) {
    leftBytes.addAndGet((long) chunks * CHUNK_BYTES);
  }
}
