package dev.ashlar.protocol.memory;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Off-heap memory whose start and size are multiples of 4 KiB, so that it can be handed to direct
 * I/O. Counted references: the last {@link #release} gives it back to its pool.
 */
public final class Slab {
  private final SlabPool pool;
  private final ByteBuffer memory;
  private final AtomicInteger references = new AtomicInteger();

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

  public void release() {
    int left = references.decrementAndGet();
    if (left == 0) {
      pool.recycle(this);
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
