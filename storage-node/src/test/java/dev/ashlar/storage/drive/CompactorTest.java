package dev.ashlar.storage.drive;

import static dev.ashlar.storage.drive.SimulatedCore.noise;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Which segments are emptied, and when. */
class CompactorTest {
  private static final int SEGMENT_BYTES = TestDrives.TINY.segmentBytes();

  /** Six of them fill a segment. */
  private static final int BYTES = 18_000;

  private static final int SEGMENTS = 6;
  private static final long CAPACITY = 20L * SEGMENT_BYTES;

  /** So many full segments, and one that is written to. */
  private static SimulatedCore filled(DriveConfig.Limits limits) throws IOException {
    SimulatedCore drive = new SimulatedCore(limits);
    for (int blob = 1; drive.core().log().activeSegment() <= SEGMENTS; blob++) {
      drive.commit(blob, noise(blob, BYTES));
    }
    return drive;
  }

  private static int blobsPerSegment(SimulatedCore drive) {
    return (int) (drive.core().segments().all().iterator().next().use().liveBytes() / BYTES);
  }

  @Test
  void withRoomWhatIsDeadWaitsUntilItIsAsMuchAsWhatIsLive() throws Exception {
    SimulatedCore drive = filled(TestDrives.TINY);
    Compactor compactor = drive.compactor();
    int each = blobsPerSegment(drive);
    assertEquals(6, each);
    int kept = each;
    for (int blob = 1; blob < each; blob++) {
      drive.delete(blob);
    }
    assertFalse(compactor.emptyOne(), "one of six could be worth it, and may wait");
    for (int segment = 1; segment < SEGMENTS; segment++) {
      drive.delete(segment * each + 1);
      drive.delete(segment * each + 2);
      drive.delete(segment * each + 3);
    }
    assertTrue(compactor.emptyOne(), "more is dead than live");
    compactor.free();
    assertNull(drive.core().segments().get(1), "not the one with the least");
    assertArrayEquals(noise(kept, BYTES), drive.read(kept, 0, BYTES));
    drive.index.lose();
    drive.reopen();
    assertArrayEquals(noise(kept, BYTES), drive.read(kept, 0, BYTES));
  }

  @Test
  void withLittleRoomItDoesNotWait() throws Exception {
    SimulatedCore drive = filled(TestDrives.TINY.withCapacity(CAPACITY));
    int each = blobsPerSegment(drive);
    for (int blob = 1; blob < each; blob++) {
      drive.delete(blob);
    }
    drive.core().segments().prepare(drive.core().log().activeRoomBytes());
    assertFalse(drive.core().segments().isFull());
    Compactor compactor = drive.compactor();
    assertFalse(compactor.emptyOne(), "half of the drive is free");
    int blob = 1000;
    while (drive.core().segments().usedBytes() <= CAPACITY / 2) {
      drive.commit(++blob, noise(blob, BYTES));
      drive.core().segments().prepare(drive.core().log().activeRoomBytes());
    }
    assertFalse(drive.core().segments().isFull());
    assertTrue(compactor.emptyOne());
  }

  @Test
  void whatIsDeadAltogetherIsFreedAtOnce() throws Exception {
    SimulatedCore drive = filled(TestDrives.TINY);
    int each = blobsPerSegment(drive);
    for (int blob = 1; blob <= each; blob++) {
      drive.delete(blob);
    }
    Compactor compactor = drive.compactor();
    assertTrue(compactor.emptyOne());
    compactor.free();
    assertNull(drive.core().segments().get(1));
    assertFalse(compactor.emptyOne());
  }
}
