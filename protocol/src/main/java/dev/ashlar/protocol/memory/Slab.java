package dev.ashlar.protocol.memory;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Off-heap memory aligned to 4 KiB, as direct I/O needs it. References are counted: the last {@link
 * #release} returns it to its pool.
 */
public final class Slab {
  private final SlabPool pool;
  private final ByteBuffer memory;
  private final AtomicInteger references = new AtomicInteger();
  private volatile @Nullable LongConsumer whenRecycled;

  Slab(SlabPool pool, ByteBuffer memory) {
    this.pool = pool;
    this.memory = memory;
  }

  /** A fresh view of all of it: position 0, limit {@link #capacity}. Valid until released. */
  public ByteBuffer buffer() {
    checkHeld();
    return memory.duplicate();
  }

  /** A fresh view of a part of it. */
  public ByteBuffer slice(int offset, int length) {
    checkHeld();
    return memory.slice(offset, length);
  }

  public int capacity() {
    return memory.capacity();
  }

  public Slab retain() {
    int before = references.getAndIncrement();
    if (before <= 0) {
      references.getAndDecrement();
      throw new IllegalStateException("retained after release");
    }
    return this;
  }

  /** Sets a callback that is told the capacity once, when the slab is back in its pool. */
  public void whenRecycled(LongConsumer told) {
    checkHeld();
    whenRecycled = told;
  }

  public void release() {
    int left = references.decrementAndGet();
    if (left == 0) {
      LongConsumer told = whenRecycled;
      whenRecycled = null;
      pool.recycle(this);
      if (told != null) {
        told.accept(memory.capacity());
      }
    } else if (left < 0) {
      throw new IllegalStateException("released more often than retained");
    }
  }

  void lend() {
    if (!references.compareAndSet(0, 1)) {
      throw new IllegalStateException("lent while in use");
    }
  }

  private void checkHeld() {
    if (references.get() <= 0) {
      throw new IllegalStateException("used after release");
    }
  }
}
