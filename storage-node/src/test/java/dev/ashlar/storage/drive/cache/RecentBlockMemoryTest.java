package dev.ashlar.storage.drive.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RecentBlockMemoryTest {
  @Test
  void memoryIsLimited() {
    RecentBlockMemory memory = new RecentBlockMemory(2L * RecentBlockMemory.CHUNK_BYTES);
    assertNotNull(memory.take());
    assertNotNull(memory.take());
    assertNull(memory.take());
    assertNull(memory.take());
    memory.giveBack(1);
    assertNotNull(memory.take());
    assertNull(memory.take());
  }

  @Test
  void refusedAllocationIsNotRepeated() {
    AtomicInteger tries = new AtomicInteger();
    RecentBlockMemory memory =
        new RecentBlockMemory(
            1 << 30,
            0,
            bytes -> {
              tries.incrementAndGet();
              throw new OutOfMemoryError("Cannot reserve direct buffer memory");
            });
    assertNull(memory.take());
    assertNull(memory.take());
    assertEquals(1, tries.get());
  }
}
