package dev.ashlar.storage.drive.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.storage.drive.TestDrives;
import dev.ashlar.storage.drive.metrics.DriveMetrics;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.drive.segment.SegmentFiles.Need;
import dev.ashlar.storage.io.SimulatedDrive;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ZeroFillingTest {
  private static final int SEGMENT_BYTES = TestDrives.LIMITS.segmentBytes();
  private static final int STEP = SEGMENT_BYTES / 128;
  private static final int SMALL = 4 << 10;
  private static final int LARGE = 1 << 20;

  private final SimulatedDrive disk = new SimulatedDrive(new Random(1), 64L * SEGMENT_BYTES);
  private final SegmentFiles segments =
      new SegmentFiles(
          disk,
          TestDrives.LIMITS,
          Map.of(),
          () -> 1,
          new DriveMetrics(new SimpleMeterRegistry(), "simulated"));
  private final Segment allocated = allocate();
  private final ZeroFilling filling = new ZeroFilling();

  ZeroFillingTest() throws IOException {}

  private Segment allocate() throws IOException {
    return Objects.requireNonNull(segments.allocate(Need.NEW_DATA, () -> {}));
  }

  private int behind(Segment segment, int end, int batchBytes) {
    int zeros = filling.behind(segment, end, batchBytes, SEGMENT_BYTES);
    segment.setWritten(end + zeros);
    return zeros;
  }

  @Test
  void oneSmallBatchWritesForTheNext() {
    assertEquals(STEP, behind(allocated, SMALL, SMALL));
    int end = 2 * SMALL;
    for (; end <= SMALL + STEP; end += SMALL) {
      assertEquals(0, behind(allocated, end, SMALL), "at " + end);
    }
    assertEquals(STEP, behind(allocated, end, SMALL));
  }

  @Test
  void noneAreWrittenBehindTheSegment() {
    assertEquals(SMALL, behind(allocated, SEGMENT_BYTES - SMALL, SMALL));
    assertEquals(0, behind(allocated, SEGMENT_BYTES, SMALL));
  }

  @Test
  void largeBatchesWriteNone() {
    for (int batches = 0; batches < 1000; batches++) {
      assertEquals(0, behind(allocated, LARGE, LARGE));
    }
  }

  /** A few small batches among large ones are not worth it, many are. */
  @Test
  void theLoadDecides() {
    for (int batches = 0; batches < 512; batches++) {
      filling.behind(allocated, LARGE, LARGE, SEGMENT_BYTES);
      assertEquals(0, batches < 100 ? 0 : filling.behind(allocated, LARGE, SMALL, SEGMENT_BYTES));
    }
    for (int batches = 0; batches < 1500; batches++) {
      filling.behind(allocated, LARGE, SMALL, SEGMENT_BYTES);
    }
    assertEquals(STEP, behind(allocated, LARGE, SMALL));
  }

  @Test
  void aSegmentThatWasFilledOrUsedNeedsNone() throws IOException {
    disk.refuseAllocation();
    Segment filled = allocate();
    assertEquals(SEGMENT_BYTES, filled.writtenBytes());
    assertEquals(0, behind(filled, SMALL, SMALL));
    allocated.setWritten(LARGE);
    segments.retire(allocated);
    Segment reused = allocate();
    assertEquals(LARGE, reused.writtenBytes());
    assertEquals(0, behind(reused, LARGE, SMALL));
    assertEquals(STEP, behind(reused, LARGE + SMALL, SMALL));
  }

  @Test
  void theyAreWholeBlocksOfZeros() {
    List<ByteBuffer> buffers = new ArrayList<>();
    ZeroFilling.add(200 << 10, buffers);
    int bytes = 0;
    for (ByteBuffer buffer : buffers) {
      while (buffer.hasRemaining()) {
        assertEquals(0, buffer.get());
        bytes++;
      }
    }
    assertEquals(200 << 10, bytes);
  }
}
