package dev.ashlar.protocol.memory;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/**
 * Slabs in size classes of powers of two from 4 KiB to 4 MiB. The pool recycles but does not limit:
 * callers reserve bytes of a budget first. Released slabs are kept for reuse; only when another
 * size is needed and too much is kept, some are left to the garbage collector.
 */
public final class SlabPool {
  public static final int MAX_SLAB_BYTES = 4 << 20;
  private static final int ALIGNMENT = 4096;
  private static final int SMALLEST_SHIFT = 12;
  private static final int CLASSES =
      Integer.numberOfTrailingZeros(MAX_SLAB_BYTES) - SMALLEST_SHIFT + 1;

  private final List<Queue<Slab>> free =
      IntStream.range(0, CLASSES)
          .<Queue<Slab>>mapToObj(i -> new ConcurrentLinkedQueue<>())
          .toList();
  private final long keptBytesMax;
  private final AtomicLong allocatedBytes = new AtomicLong();
  private final AtomicLong lentBytes = new AtomicLong();

  public SlabPool() {
    this(Long.MAX_VALUE);
  }

  /**
   * @param keptBytesMax beyond it, a new slab replaces unused ones of other sizes
   */
  public SlabPool(long keptBytesMax) {
    this.keptBytesMax = keptBytesMax;
  }

  /** The capacity of a slab for this many bytes. */
  public static int slabBytes(int bytes) {
    return 1 << (sizeClass(bytes) + SMALLEST_SHIFT);
  }

  /**
   * A slab of at least {@code bytes}, its content undefined.
   *
   * @param bytes 0 to {@link #MAX_SLAB_BYTES}
   */
  public Slab acquire(int bytes) {
    int sizeClass = sizeClass(bytes);
    Slab slab = free.get(sizeClass).poll();
    if (slab == null) {
      slab = allocate(1 << (sizeClass + SMALLEST_SHIFT));
    }
    slab.lend();
    lentBytes.addAndGet(slab.capacity());
    return slab;
  }

  /** Bytes of direct memory that this pool has allocated, lent or free. */
  public long allocatedBytes() {
    return allocatedBytes.get();
  }

  /** Bytes in use now; 0 when nothing is in flight. */
  public long lentBytes() {
    return lentBytes.get();
  }

  void recycle(Slab slab) {
    lentBytes.addAndGet(-slab.capacity());
    free.get(sizeClass(slab.capacity())).add(slab);
  }

  private Slab allocate(int capacity) {
    allocatedBytes.addAndGet(capacity);
    dropUnused();
    ByteBuffer raw = ByteBuffer.allocateDirect(capacity + ALIGNMENT);
    return new Slab(this, raw.alignedSlice(ALIGNMENT).slice(0, capacity));
  }

  private void dropUnused() {
    for (int i = CLASSES - 1; i >= 0; i--) {
      while (allocatedBytes.get() > keptBytesMax) {
        Slab unused = free.get(i).poll();
        if (unused == null) {
          break;
        }
        allocatedBytes.addAndGet(-unused.capacity());
      }
    }
  }

  private static int sizeClass(int bytes) {
    if (bytes < 0 || bytes > MAX_SLAB_BYTES) {
      throw new IllegalArgumentException("slab of " + bytes + " bytes");
    }
    int shift = bytes <= ALIGNMENT ? SMALLEST_SHIFT : 32 - Integer.numberOfLeadingZeros(bytes - 1);
    return shift - SMALLEST_SHIFT;
  }
}
