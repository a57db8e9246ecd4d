package dev.ashlar.storage.drive;

import static dev.ashlar.storage.drive.SimulatedCore.noise;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.storage.drive.compact.Compactor;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.io.FileNotOpenedException;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
  void roomyDriveWaitsUntilHalfIsDead() throws Exception {
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
  void fullDriveCompactsAtOnce() throws Exception {
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

  /** It is emptied once it can be opened; until then others are. */
  @Test
  void unopenedSegmentDoesNotBlockOthers() throws Exception {
    SimulatedCore drive = filled(TestDrives.TINY);
    int each = blobsPerSegment(drive);
    for (int blob = 2; blob <= SEGMENTS * each; blob++) {
      if (blob != 2 * each) {
        drive.delete(blob);
      }
    }
    Compactor compactor = drive.compactor();
    for (int dead = 3; dead <= SEGMENTS; dead++) {
      assertTrue(compactor.emptyOne());
      compactor.free();
      assertNull(drive.core().segments().get(dead));
    }
    drive.disk.makeUnopenable(Segment.fileName(1));
    assertThrows(FileNotOpenedException.class, compactor::emptyOne);
    emptyAll(compactor);
    assertNull(drive.core().segments().get(2));
    assertNotNull(drive.core().segments().get(1));
    drive.disk.makeUnopenable("");
    emptyAll(compactor);
    assertNull(drive.core().segments().get(1));
    assertArrayEquals(noise(1, BYTES), drive.read(1, 0, BYTES));
    assertArrayEquals(noise(2 * each, BYTES), drive.read(2 * each, 0, BYTES));
  }

  private static void emptyAll(Compactor compactor) throws Exception {
    while (compactor.emptyOne()) {
      compactor.free();
    }
  }

  @Test
  void deadSegmentIsFreedAtOnce() throws Exception {
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

  /** Payloads of which a segment has room for so few that it is never nine tenths live. */
  @ParameterizedTest
  @ValueSource(ints = {18_000, 20_400, 26_000, 32_700, 45_000, 60_000, 70_000})
  void aFullDriveIsNotCompactedAgainAndAgain(int bytes) throws Exception {
    SimulatedCore drive = new SimulatedCore(TestDrives.TINY.withCapacity(CAPACITY));
    int written = fillUp(drive, 0, bytes);
    compactUntilNothingIsWorthIt(drive);
    for (int blob = 1; blob <= written; blob++) {
      assertArrayEquals(noise(blob, bytes), drive.read(blob, 0, bytes));
    }
    for (int blob = 1; blob <= written; blob += 2) {
      drive.delete(blob);
      assertEquals(ShardFault.MISSING, drive.readFault(blob, 0, 1), "deletes need no new room");
    }
    compactUntilNothingIsWorthIt(drive);
    assertFalse(drive.core().segments().isFull(), "half of it was deleted");
    assertTrue(drive.write(1000, noise(1000, bytes)));
    for (int blob = 2; blob <= written; blob += 2) {
      assertArrayEquals(noise(blob, bytes), drive.read(blob, 0, bytes));
    }
  }

  /** Writes blobs behind this one until there is no room; returns how many. */
  private static int fillUp(SimulatedCore drive, int after, int bytes) throws IOException {
    int blob = after;
    while (drive.write(blob + 1, noise(blob + 1, bytes))) {
      blob++;
    }
    assertTrue(drive.core().segments().isFull());
    return blob - after;
  }

  private static void compactUntilNothingIsWorthIt(SimulatedCore drive) throws Exception {
    Compactor compactor = drive.compactor();
    int roundsMax = 3 * drive.core().segments().count();
    for (int round = 0; compactor.emptyOne(); round++) {
      assertTrue(round < roundsMax, "compaction goes round in circles");
      compactor.free();
      drive.core().segments().prepare(drive.core().log().activeRoomBytes());
    }
  }

  /**
   * What is moved fills the segment that is written to before another one is begun. A block for
   * each segment that is freed confirms what was moved.
   */
  @Test
  void deletedBytesBecomeFreeSpace() throws Exception {
    SimulatedCore drive = new SimulatedCore(TestDrives.TINY.withCapacity(CAPACITY));
    int written = fillUp(drive, 0, BYTES);
    int deleted = 0;
    for (int blob = 1; blob <= written; blob += 3) {
      drive.delete(blob);
      deleted++;
    }
    double confirmedBefore = drive.count("ashlar.drive.confirmation.ops");
    int again = 0;
    int more;
    do {
      compactUntilNothingIsWorthIt(drive);
      more = drive.core().segments().isFull() ? 0 : fillUp(drive, written + again, BYTES);
      again += more;
    } while (more > 0);
    double confirmed = drive.count("ashlar.drive.confirmation.ops") - confirmedBefore;
    assertTrue(
        (double) again * BYTES + confirmed * SegmentFormat.BLOCK >= (double) deleted * BYTES,
        again + " written after " + deleted + " of " + written + ", " + confirmed + " confirmed");
  }
}
