package dev.ashlar.storage.drive;

import static dev.ashlar.storage.drive.SimulatedCore.noise;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.segment.LogPosition;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.io.FileNotOpenedException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A read error that passes is not of the medium: nothing is given up for it. */
class PassingReadErrorTest {
  private static final long FIRST_INCARNATION = 1000;
  private static final int BLOBS = 6;

  /** What the next start finds of the index. */
  private enum Index {
    LOST,
    OF_THE_FIRST_BATCH
  }

  /** Draws the least always: a crash that takes the index back to its checkpoint. */
  static final Random KEEPS_NOTHING =
      new Random() {
        private static final long serialVersionUID = 1;

        @Override
        public int nextInt(int bound) {
          return 0;
        }
      };

  private final List<LogPosition> begins = new ArrayList<>();

  private SimulatedCore drive(DriveConfig.Limits limits, Index index) throws IOException {
    SimulatedCore drive = new SimulatedCore(limits);
    for (int blob = 1; blob <= BLOBS; blob++) {
      begins.add(drive.core().log().end());
      drive.commit(blob, noise(blob, 100_000));
      if (blob == 1) {
        drive.index.checkpoint();
      }
    }
    if (index == Index.LOST) {
      drive.index.lose();
    } else {
      drive.index.crash(KEEPS_NOTHING);
    }
    return drive;
  }

  /** The start is refused, and the next one finds all that there was. */
  private static void checkKept(SimulatedCore drive) throws Exception {
    drive.disk.makeReadableOnceWritten(DriveIdentity.FILE);
    List<String> names = drive.disk.list();
    IOException refused = assertThrows(IOException.class, drive::reopen);
    assertTrue(String.valueOf(refused.getMessage()).contains("cables"), refused.toString());
    assertEquals(names, drive.disk.list());
    drive.reopen();
    assertEquals(FIRST_INCARNATION, drive.core().drive().incarnation());
    assertFalse(DriveIdentity.read(drive.disk).changesLost());
    for (int blob = 1; blob <= BLOBS; blob++) {
      assertArrayEquals(noise(blob, 100_000), drive.read(blob, 0, 100_000), "blob " + blob);
    }
  }

  @ParameterizedTest
  @EnumSource(Index.class)
  void segmentsThatCannotBeReadForAMomentAreKept(Index index) throws Exception {
    SimulatedCore drive = drive(TestDrives.TINY, index);
    drive.disk.makeUnreadable("segment-.*[2-9]", 0);
    checkKept(drive);
  }

  @ParameterizedTest
  @EnumSource(Index.class)
  void theEndOfASegmentThatCannotBeReadForAMomentIsKept(Index index) throws Exception {
    SimulatedCore drive = drive(TestDrives.LIMITS, index);
    drive.disk.makeUnreadable(Segment.fileName(1), begins.get(2).offset());
    checkKept(drive);
  }

  @ParameterizedTest
  @EnumSource(Index.class)
  void batchesInTheMidstThatCannotBeReadForAMomentAreKept(Index index) throws Exception {
    SimulatedCore drive = drive(TestDrives.LIMITS, index);
    drive.disk.makeUnreadable(
        Segment.fileName(1), begins.get(2).offset(), begins.get(3).offset() + 1L);
    checkKept(drive);
  }

  @ParameterizedTest
  @EnumSource(Index.class)
  void aLastBatchThatCannotBeReadForAMomentIsKept(Index index) throws Exception {
    SimulatedCore drive = drive(TestDrives.LIMITS, index);
    int payload = begins.get(BLOBS - 1).offset() + 2 * SegmentFormat.BLOCK;
    drive.disk.makeUnreadable(Segment.fileName(1), payload, payload + 1L);
    checkKept(drive);
  }

  /** Bad sectors do not take all of a file. */
  @ParameterizedTest
  @EnumSource(Index.class)
  void aSegmentOfWhichNothingCanBeReadIsKept(Index index) throws Exception {
    for (int segment = 2; segment <= BLOBS; segment++) {
      SimulatedCore drive = drive(TestDrives.TINY, index);
      String name = Segment.fileName(segment);
      byte[] content = drive.disk.content(name);
      drive.disk.makeUnreadable(name, 0);
      IOException refused = assertThrows(IOException.class, drive::reopen);
      assertTrue(String.valueOf(refused.getMessage()).contains("cables"), refused.toString());
      assertArrayEquals(content, drive.disk.content(name), name);
    }
  }

  /** That says nothing of what is in it. */
  @ParameterizedTest
  @EnumSource(Index.class)
  void aSegmentThatCannotBeOpenedIsKept(Index index) throws Exception {
    for (int segment = 2; segment <= BLOBS; segment++) {
      SimulatedCore drive = drive(TestDrives.TINY, index);
      String name = Segment.fileName(segment);
      byte[] content = drive.disk.content(name);
      List<String> names = drive.disk.list();
      drive.disk.makeUnopenable(name);
      IOException refused = assertThrows(FileNotOpenedException.class, drive::reopen);
      assertTrue(String.valueOf(refused.getMessage()).contains(name), refused.toString());
      assertEquals(names, drive.disk.list());
      assertArrayEquals(content, drive.disk.content(name), name);
      drive.disk.makeUnopenable("");
      drive.reopen();
      assertEquals(FIRST_INCARNATION, drive.core().drive().incarnation());
      for (int blob = 1; blob <= BLOBS; blob++) {
        assertArrayEquals(noise(blob, 100_000), drive.read(blob, 0, 100_000), "blob " + blob);
      }
    }
  }

  /** A bad sector stays one: what lies in it is lost, and the drive goes on. */
  @Test
  void aSectorThatCannotBeReadAgainIsDamage() throws Exception {
    SimulatedCore drive = drive(TestDrives.LIMITS, Index.LOST);
    drive.disk.makeUnreadable(
        Segment.fileName(1), begins.get(2).offset(), begins.get(2).offset() + 1L);
    drive.reopen();
    assertTrue(drive.core().drive().incarnation() > FIRST_INCARNATION);
    assertArrayEquals(noise(4, 100_000), drive.read(4, 0, 100_000));
    drive.commit(9, noise(9, 1000));
    assertArrayEquals(noise(9, 1000), drive.read(9, 0, 1000));
  }
}
