package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.metrics.DriveMetrics;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.drive.segment.SegmentFiles.Need;
import dev.ashlar.storage.io.SimulatedDrive;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Freed segments wait to be used again, as free space that others may have. */
class SpareSegmentsTest {
  private static final long SEGMENT_BYTES = TestDrives.TINY.segmentBytes();
  private static final int SEGMENTS = 320;

  private final MeterRegistry meters = new SimpleMeterRegistry();
  private final DriveMetrics driveMeters = new DriveMetrics(meters, "simulated");
  private final SimulatedDrive disk = new SimulatedDrive(new Random(1), SEGMENTS * SEGMENT_BYTES);
  private SegmentFiles segments = open(TestDrives.TINY);

  SpareSegmentsTest() throws IOException {}

  private SegmentFiles open(DriveConfig.Limits limits) throws IOException {
    return new SegmentFiles(disk, limits, Map.of(), () -> 1, driveMeters);
  }

  private void allocate(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      assertNotNull(segments.allocate(Need.NEW_DATA, () -> {}));
    }
  }

  private void freeAll() {
    for (Segment segment : List.copyOf(segments.all())) {
      segments.retire(segment);
    }
  }

  private int spares() {
    return (int) disk.list().stream().filter(name -> name.startsWith("spare")).count();
  }

  @Test
  void theyHoldAShareOfWhatIsFree() throws IOException {
    allocate(40);
    freeAll();
    assertEquals(9, spares(), "of 311 that are free beside them");
  }

  @Test
  void theyAreFreeSpace() throws IOException {
    long capacity = segments.capacityBytes();
    allocate(40);
    assertEquals(40 * SEGMENT_BYTES, segments.usedBytes());
    assertEquals(capacity, segments.capacityBytes());
    freeAll();
    assertEquals(0, segments.usedBytes());
    assertEquals(capacity, segments.capacityBytes());
    assertEquals(capacity, segments.newDataCapacityBytes());
  }

  /** As many as ever can be had, whether the drive had other segments before or not. */
  @Test
  void allOfThemCanBeUsed() throws IOException {
    allocate(200);
    freeAll();
    int reserved = (int) (TestDrives.TINY.reserveBytes() / SEGMENT_BYTES) + 2;
    allocate(SEGMENTS - reserved);
    assertNull(segments.allocate(Need.NEW_DATA, () -> {}));
  }

  @Test
  void theyAreUsedAgainAsTheyAre() throws IOException {
    disk.refuseAllocation();
    allocate(9);
    freeAll();
    allocate(9);
    assertEquals(
        9.0 * SEGMENT_BYTES, meters.get("ashlar.drive.zero.bytes").functionCounter().count());
  }

  @Test
  void theyAreGivenBackWhenTheFileSystemFillsUp() throws IOException {
    allocate(40);
    freeAll();
    disk.create("of others", 200 * SEGMENT_BYTES);
    segments.prepare(0);
    assertEquals(5, spares(), "a few at a time");
    segments.prepare(0);
    assertEquals(3, spares());
    disk.create("of others, too", disk.usableBytes());
    segments.prepare(0);
    segments.prepare(0);
    assertEquals(2, spares());
    assertEquals(2 * SEGMENT_BYTES, segments.capacityBytes() - disk.usableBytes());
  }

  @Test
  void tooManyAreDeletedWhenTheDriveIsOpened() throws IOException {
    allocate(40);
    freeAll();
    disk.create("of others", 250 * SEGMENT_BYTES);
    segments = open(TestDrives.TINY);
    assertEquals(2, spares());
    allocate(3);
    assertEquals(3, segments.count());
  }

  @Test
  void aCapacityBoundsThem() throws IOException {
    segments = open(TestDrives.TINY.withCapacity(100 * SEGMENT_BYTES));
    allocate(40);
    assertEquals(100 * SEGMENT_BYTES, segments.capacityBytes());
    freeAll();
    assertEquals(3, spares());
    assertEquals(100 * SEGMENT_BYTES, segments.capacityBytes());
    assertTrue(segments.mayAllocate(Need.NEW_DATA));
  }
}
