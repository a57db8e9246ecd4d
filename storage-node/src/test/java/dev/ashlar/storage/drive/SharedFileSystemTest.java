package dev.ashlar.storage.drive;

import static dev.ashlar.storage.drive.SimulatedCore.noise;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.storage.drive.compact.Compactor;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.log.LogRequest;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.io.IoMode;
import dev.ashlar.storage.io.SimulatedSpace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several drives fill one file system: each of them can still delete, and be compacted. */
class SharedFileSystemTest {
  private static final int SEGMENT_BYTES = TestDrives.TINY.segmentBytes();
  private static final int DRIVES = 6;

  private static final int ROUNDS_MAX = 200;

  /** Each takes a batch of 4 KiB: more than one segment of them. */
  private static final int DELETES = SEGMENT_BYTES / SegmentFormat.BLOCK + 8;

  private final SimulatedSpace space = new SimulatedSpace(80L * SEGMENT_BYTES);
  private final List<SimulatedCore> drives = new ArrayList<>();
  private final int[] written = new int[DRIVES];

  /** Bytes of each blob. */
  private int bytes = 60_000;

  @ParameterizedTest
  @ValueSource(ints = {18_000, 45_000, 60_000})
  void everyDriveCanDeleteOnceAllAreFull(int bytesOfBlob) throws Exception {
    bytes = bytesOfBlob;
    fill();
    deleteOnAll();
    compactAll();
    writeOnAll();
  }

  @Test
  void everyDriveThatIsOpenedFullCanDelete() throws Exception {
    fill();
    reopenAll();
    deleteOnAll();
    reopenAll();
    compactAll();
    writeOnAll();
  }

  /** Deletes first, on all drives, while nothing is compacted; then on those that are. */
  @Test
  void againAndAgain() throws Exception {
    for (int round = 0; round < 5; round++) {
      fill();
      deleteOnAll();
      compactAll();
      reopenAll();
    }
    writeOnAll();
  }

  /** The room of one drive alone is not less for that others might be there. */
  @Test
  void aDriveByItselfLeavesAsMuchAsBefore() throws Exception {
    SimulatedSpace own = new SimulatedSpace(8L * SEGMENT_BYTES + SEGMENT_BYTES / 2);
    SimulatedCore drive = new SimulatedCore(TestDrives.TINY, own);
    for (int blob = 1; !drive.core().segments().isFull(); blob++) {
      drive.commit(blob, noise(blob, 60_000));
      drive.core().segments().prepare(drive.core().log().activeRoomBytes());
    }
    assertEquals(5, drive.core().segments().count());
  }

  /** A bound that is set keeps what it always kept: nobody else takes of it. */
  @Test
  void aDriveWithABoundUsesAllOfItWhileTheFileSystemHasRoom() throws Exception {
    SimulatedSpace roomy = new SimulatedSpace(1000L * SEGMENT_BYTES);
    DriveConfig.Limits bounded = TestDrives.TINY.withCapacity(8L * SEGMENT_BYTES);
    SimulatedCore first = new SimulatedCore(bounded, roomy);
    SimulatedCore second = new SimulatedCore(bounded, roomy);
    for (SimulatedCore drive : List.of(first, second)) {
      for (int blob = 1; !drive.core().segments().isFull(); blob++) {
        drive.commit(blob, noise(blob, 60_000));
      }
      assertEquals(5, drive.core().segments().count());
    }
  }

  @Test
  void openDrivesAreCountedByTheirFileSystem(@TempDir Path folder) throws Exception {
    try (DriveResources resources = TestDrives.resources(new SlabPool())) {
      Object device = DriveResources.device(folder);
      DriveStore first = open(folder.resolve("a"), resources);
      assertEquals(1, resources.drivesOn(device));
      DriveStore second = open(folder.resolve("b"), resources);
      assertEquals(2, resources.drivesOn(device));
      assertThrows(IOException.class, () -> open(folder.resolve("b"), resources));
      assertEquals(2, resources.drivesOn(device), "it is in use, and not opened again");
      first.close();
      first.close();
      assertEquals(1, resources.drivesOn(device));
      second.close();
      assertEquals(0, resources.drivesOn(device));
    }
  }

  private static DriveStore open(Path folder, DriveResources resources) throws IOException {
    return DriveStore.open(TestDrives.config(folder, IoMode.AUTO), resources);
  }

  private void fill() throws IOException {
    while (drives.size() < DRIVES) {
      drives.add(new SimulatedCore(TestDrives.TINY, space));
    }
    boolean isWritten = true;
    while (isWritten) {
      isWritten = false;
      for (int drive = 0; drive < DRIVES; drive++) {
        if (tryWrite(drive)) {
          isWritten = true;
        }
        prepare(drives.get(drive));
      }
    }
  }

  private boolean tryWrite(int drive) throws IOException {
    int blob = written[drive] + 1;
    boolean isWritten = drives.get(drive).write(blob, noise(blob, bytes));
    if (isWritten) {
      written[drive] = blob;
    }
    return isWritten;
  }

  /** Half of what was written last, and many more that are not there. */
  private void deleteOnAll() throws IOException {
    for (int drive = 0; drive < DRIVES; drive++) {
      for (int i = 0; i < DELETES; i++) {
        BlobId blob = new BlobId(1, Math.max(1, written[drive] - 2 * i));
        assertTrue(
            drives.get(drive).commitOne(new LogRequest.Delete(List.of(blob), new Answer<>())),
            "drive " + drive + " refused delete " + i);
      }
    }
  }

  private void compactAll() throws Exception {
    for (SimulatedCore drive : drives) {
      Compactor compactor = drive.compactor();
      for (int round = 0; compactor.emptyOne(); round++) {
        assertTrue(round < ROUNDS_MAX, "compaction goes round in circles");
        compactor.free();
        prepare(drive);
      }
    }
    for (SimulatedCore drive : drives) {
      prepare(drive);
    }
  }

  private void writeOnAll() throws IOException {
    for (int drive = 0; drive < DRIVES; drive++) {
      assertFalse(drives.get(drive).core().segments().isFull(), "drive " + drive + " is full");
      assertTrue(tryWrite(drive), "drive " + drive + " has no room again");
    }
  }

  private void reopenAll() throws IOException {
    for (SimulatedCore drive : drives) {
      drive.reopen();
    }
  }

  private static void prepare(SimulatedCore drive) throws IOException {
    drive.core().segments().prepare(drive.core().log().activeRoomBytes());
  }
}
