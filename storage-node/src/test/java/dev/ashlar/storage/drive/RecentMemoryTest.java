package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

class RecentMemoryTest {
  private static final int OWN = RecentMemory.OWN_CHUNKS;

  @Test
  void drivesShareWhatThereIsBesideTheirOwn() {
    RecentMemory memory = new RecentMemory(2L * RecentMemory.CHUNK_BYTES);
    assertNotNull(memory.take(OWN));
    assertNotNull(memory.take(OWN));
    assertNull(memory.take(OWN));
    assertNull(memory.take(OWN + 2));
    for (int taken = 0; taken < OWN; taken++) {
      assertNotNull(memory.take(taken));
    }
  }

  @Test
  void whatADriveHadOfItIsForOthersWhenItEnds() {
    RecentMemory memory = new RecentMemory(2L * RecentMemory.CHUNK_BYTES);
    memory.take(OWN);
    memory.take(OWN + 1);
    memory.giveBack(OWN - 1);
    assertNull(memory.take(OWN));
    memory.giveBack(OWN + 1);
    assertNotNull(memory.take(OWN));
    assertNull(memory.take(OWN));
  }
}
