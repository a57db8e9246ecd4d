package dev.ashlar.storage.drive;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Direct memory for the blocks that were changed lately, which the drives of a process share. Each
 * takes more until there is none, and from then on makes do with what it has. Thread-safe.
 */
final class RecentMemory {
  static final int CHUNK_BYTES = 256 << 10;

  /** A MiB, which each drive gets whatever the others have. */
  static final int OWN_CHUNKS = 4;

  private final AtomicLong leftBytes;

  /**
   * @param bytes beside what each drive has of its own
   */
  RecentMemory(long bytes) {
    leftBytes = new AtomicLong(bytes);
  }

  /**
   * A chunk more.
   *
   * @param taken how many the drive has
   * @return null if there is none
   */
  @Nullable ByteBuffer take(int taken) {
    if (taken >= OWN_CHUNKS && leftBytes.addAndGet(-CHUNK_BYTES) < 0) {
      leftBytes.addAndGet(CHUNK_BYTES);
      return null;
    }
    try {
      return ByteBuffer.allocateDirect(CHUNK_BYTES);
    } catch (OutOfMemoryError e) {
      // Direct memory is used up by what is needed more. It is not given back: try no more.
      return null;
    }
  }

  /** A drive has ended that had so many. */
  void giveBack(int taken) {
    leftBytes.addAndGet((long) Math.max(0, taken - OWN_CHUNKS) * CHUNK_BYTES);
  }
}
