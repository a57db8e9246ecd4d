package dev.ashlar.protocol.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
  void theLastReleaseGivesItBack() {
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
  void useAfterReleaseIsOurBug() {
    Slab slab = pool.acquire(1);
    slab.release();
    assertThrows(IllegalStateException.class, slab::buffer);
    assertThrows(IllegalStateException.class, slab::retain);
  }
}
