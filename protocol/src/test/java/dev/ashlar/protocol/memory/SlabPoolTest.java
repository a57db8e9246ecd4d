package dev.ashlar.protocol.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SlabPoolTest {
  private final SlabPool pool = new SlabPool();

  @Test
  void slabsAreAlignedAndLargeEnough() {
    for (int bytes : new int[] {0, 1, 4096, 4097, 65536, 1 << 20, SlabPool.MAX_SLAB_BYTES}) {
      Slab slab = pool.acquire(bytes);
      assertTrue(slab.capacity() >= bytes && slab.capacity() >= 4096);
      assertEquals(0, slab.buffer().alignmentOffset(0, 4096));
    }
    assertThrows(IllegalArgumentException.class, () -> pool.acquire(SlabPool.MAX_SLAB_BYTES + 1));
  }

  @Test
  void theLastReleaseReturnsTheSlab() {
    Slab slab = pool.acquire(5000);
    slab.retain();
    slab.release();
    assertEquals(8192, pool.lentBytes());
    slab.release();
    assertEquals(0, pool.lentBytes());
    assertSame(slab, pool.acquire(8000));
    assertEquals(8192, pool.allocatedBytes());
  }

  @Test
  void useAfterReleaseThrows() {
    Slab slab = pool.acquire(1);
    slab.release();
    assertThrows(IllegalStateException.class, slab::buffer);
    assertThrows(IllegalStateException.class, slab::retain);
  }

  @Test
  void unusedSlabsAreDroppedForOtherSizes() {
    List<Slab> held = new ArrayList<>();
    SlabPool small = new SlabPool(64 * 1024);
    for (int i = 0; i < 16; i++) {
      held.add(small.acquire(4096));
    }
    held.forEach(Slab::release);
    assertEquals(64 * 1024, small.allocatedBytes());
    small.acquire(32 * 1024).release();
    assertEquals(64 * 1024, small.allocatedBytes());
  }
}
