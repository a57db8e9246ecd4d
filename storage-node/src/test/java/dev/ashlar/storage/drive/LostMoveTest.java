package dev.ashlar.storage.drive;

import static dev.ashlar.storage.drive.ShardChanges.SHARD;
import static dev.ashlar.storage.drive.ShardChanges.change;
import static dev.ashlar.storage.drive.ShardChanges.fold;
import static dev.ashlar.storage.drive.ShardChanges.write;
import static dev.ashlar.storage.drive.SimulatedCore.noise;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.storage.drive.compact.Compactor;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.segment.LogPosition;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A move is the last write, and the segment that it empties is freed. */
class LostMoveTest {
  private static final int BLOCK = Profile.BLOCK_BYTES;
  private static final ShardView CHANGED = new ShardView(1, 1, List.of());

  /** A shard in the first segment, its change in the second, and the fold in the third. */
  private static SimulatedCore written(DriveConfig.Limits limits) throws Exception {
    SimulatedCore drive = new SimulatedCore(limits);
    write(drive, SHARD, noise(1, 4 * BLOCK));
    drive.commit(7, noise(7, 26 * BLOCK));
    change(drive, 1, 0, BLOCK, 4 * BLOCK);
    drive.commit(8, noise(8, 28 * BLOCK));
    drive.commit(9, noise(9, 6 * BLOCK));
    drive.fold(fold(1));
    assertEquals(3, drive.core().log().activeSegment());
    drive.delete(8);
    return drive;
  }

  /**
   * @param segments that the drive has room for: also when new data gets no other
   */
  @ParameterizedTest
  @ValueSource(ints = {6, 100})
  void aRebuildMissesALostMoveBeforeAFreedSegment(int segments) throws Exception {
    DriveConfig.Limits limits = TestDrives.TINY;
    SimulatedCore drive = written(limits.withCapacity((long) segments * limits.segmentBytes()));
    assertEquals(segments > 6, drive.core().segments().mayAllocate(SegmentFiles.Need.NEW_DATA));
    Compactor compactor = drive.compactor();
    LogPosition move = drive.core().log().end();
    assertTrue(compactor.emptyOne());
    compactor.free();
    assertNull(drive.core().segments().get(2), "was freed");
    assertArrayEquals(noise(1001, BLOCK), drive.read(SHARD, CHANGED, 0, BLOCK));
    lose(drive, move);
    drive.index.lose();
    drive.reopen();
    ShardException fault =
        assertThrows(ShardException.class, () -> drive.read(SHARD, CHANGED, 0, BLOCK));
    assertEquals(ShardFault.MISSING, fault.fault());
    assertTrue(drive.core().drive().incarnation() > 1000, "it knows that something is lost");
  }

  @Test
  void aMoveIsConfirmedOnce() throws Exception {
    SimulatedCore drive = written(TestDrives.TINY);
    Compactor compactor = drive.compactor();
    double before = drive.count("ashlar.drive.confirmation.ops");
    assertTrue(compactor.emptyOne());
    compactor.free();
    assertEquals(before + 1, drive.count("ashlar.drive.confirmation.ops"));
    drive.core().log().confirm();
    compactor.free();
    assertEquals(before + 1, drive.count("ashlar.drive.confirmation.ops"));
  }

  /** The disk has acknowledged the batch there, and did not write it. */
  private static void lose(SimulatedCore drive, LogPosition position) {
    String name = Segment.fileName(position.segment());
    byte[] content = drive.disk.content(name);
    int bytes = SegmentFormat.header(ByteBuffer.wrap(content), position.offset()).bytes();
    Arrays.fill(content, position.offset(), position.offset() + bytes, (byte) 0);
    drive.disk.put(name, content);
  }
}
