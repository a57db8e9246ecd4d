package dev.ashlar.storage.drive;

import static dev.ashlar.storage.drive.SimulatedCore.noise;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardChangesContract;
import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.cache.RecentBlockMemory;
import dev.ashlar.storage.drive.compact.Compactor;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.log.LogRequest;
import dev.ashlar.storage.drive.segment.Checksum;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.io.SimulatedDrive.PowerLoss;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Segments that the log has left end in a seal: also where the next one was freed, and sequences
 * have gaps as they should, a rebuild notices that the last batches of a segment are gone.
 */
class SealedSegmentTest {
  private static final int BLOCK = SegmentFormat.BLOCK;
  private static final DriveConfig.Limits LIMITS = TestDrives.TINY;
  private static final long FIRST_INCARNATION = 1000;
  private static final ShardId CHANGED = new ShardId(new BlobId(7, 1), 0);
  private static final AttemptId ATTEMPT = new AttemptId(8, 1);
  private static final ShardView FOLDED = new ShardView(1, 1, List.of());

  /** After which nothing says that there was a batch. */
  private enum Rot {
    MAGIC(0),
    SEGMENT(31),
    OFFSET(35),
    LOST_WRITE(-1);

    private final int at;

    Rot(int at) {
      this.at = at;
    }

    void apply(SimulatedCore drive, int offset) {
      String first = Segment.fileName(1);
      byte[] content = drive.disk.content(first);
      if (at < 0) {
        Arrays.fill(content, offset, offset + BLOCK, (byte) 0);
      } else {
        content[offset + at] ^= 4;
      }
      drive.disk.put(first, content);
    }
  }

  /**
   * A segment with a shard and its change, in batches of their own, and a seal; another one that
   * has been freed; and a third in which the change is folded.
   */
  private static SimulatedCore drive() throws Exception {
    SimulatedCore drive = new SimulatedCore(LIMITS);
    drive.commitOne(
        new LogRequest.Write(
            AbstractShardStoreContract.shardWrite(CHANGED, 0, noise(1, 4 * BLOCK)),
            new Answer<>()));
    ShardIntent.Target target =
        new ShardIntent.Target(CHANGED, ATTEMPT, ShardView.ORIGINAL, 4 * BLOCK);
    drive.prepare(AbstractShardChangesContract.bytes(target, 0, noise(2, BLOCK)));
    drive.commit(8, noise(8, 31 * BLOCK));
    assertEquals(List.of(), drive.fold(new FoldIntent(CHANGED, ATTEMPT, 1, 0)));
    assertEquals(3, drive.core().log().activeSegment());
    drive.delete(8);
    Compactor compactor = drive.compactor();
    assertTrue(compactor.emptyOne());
    compactor.free();
    assertNull(drive.core().segments().get(2), "was freed");
    drive.index.lose();
    return drive;
  }

  /** Where the batch with the change begins. */
  private static int change(SimulatedCore drive) {
    return bytes(drive, 0);
  }

  private static int seal(SimulatedCore drive) {
    return change(drive) + bytes(drive, change(drive));
  }

  private static int bytes(SimulatedCore drive, int offset) {
    return header(drive.disk.content(Segment.fileName(1)), offset).bytes();
  }

  private static SegmentFormat.BatchHeader header(byte[] segment, int offset) {
    return SegmentFormat.header(ByteBuffer.wrap(segment), offset);
  }

  private static byte[] readChanged(SimulatedCore drive) throws ShardException {
    return drive.read(CHANGED, FOLDED, 0, BLOCK);
  }

  @Test
  void gapsOfFreedSegmentsAreNotDamage() throws Exception {
    SimulatedCore drive = drive();
    assertTrue(header(drive.disk.content(Segment.fileName(1)), seal(drive)).isSeal());
    drive.reopen();
    assertEquals(FIRST_INCARNATION, drive.core().drive().incarnation());
    assertArrayEquals(noise(2, BLOCK), readChanged(drive));
  }

  @ParameterizedTest
  @EnumSource(Rot.class)
  void aLostBatchBeforeASealTakesWhatItChanged(Rot rot) throws Exception {
    SimulatedCore drive = drive();
    rot.apply(drive, change(drive));
    checkChangeIsLost(drive);
  }

  @ParameterizedTest
  @EnumSource(Rot.class)
  void aBatchThatIsLostWithItsSealTakesWhatItChanged(Rot rot) throws Exception {
    SimulatedCore drive = drive();
    rot.apply(drive, seal(drive));
    rot.apply(drive, change(drive));
    checkChangeIsLost(drive);
  }

  private static void checkChangeIsLost(SimulatedCore drive) throws IOException {
    drive.reopen();
    ShardException lost = assertThrows(ShardException.class, () -> readChanged(drive));
    assertEquals(ShardFault.MISSING, lost.fault());
    assertTrue(drive.core().drive().incarnation() > FIRST_INCARNATION);
  }

  @ParameterizedTest
  @EnumSource(Rot.class)
  void aLostSealTakesNothing(Rot rot) throws Exception {
    SimulatedCore drive = drive();
    rot.apply(drive, seal(drive));
    drive.reopen();
    assertTrue(drive.core().drive().incarnation() > FIRST_INCARNATION, "nobody knows what it was");
    assertArrayEquals(noise(2, BLOCK), readChanged(drive));
  }

  @Test
  void segmentsOfTheFormerVersionNeedNoSeal() throws Exception {
    SimulatedCore drive = drive();
    byte[] content = drive.disk.content(Segment.fileName(1));
    int seal = seal(drive);
    Arrays.fill(content, seal, seal + BLOCK, (byte) 0);
    for (int at = 0; at < seal; at += header(content, at).bytes()) {
      SegmentFormat.BatchHeader header = header(content, at);
      ByteBuffer batch = ByteBuffer.allocateDirect(header.bytes());
      batch.put(0, content, at, header.bytes());
      batch.putShort(4, (short) 2);
      int crc = SegmentFormat.directoryCrc(batch, 0, header.directoryBytes(), new Checksum());
      batch.putInt(SegmentFormat.CRC_AT, crc).get(0, content, at, header.bytes());
    }
    drive.disk.put(Segment.fileName(1), content);
    drive.reopen();
    assertEquals(FIRST_INCARNATION, drive.core().drive().incarnation());
    assertArrayEquals(noise(2, BLOCK), readChanged(drive));
  }

  @Test
  void leavingASegmentCostsOneEmptyBatch() throws Exception {
    SimulatedCore drive = new SimulatedCore(LIMITS);
    for (int blob = 1; blob <= 30; blob++) {
      drive.commit(blob, noise(blob, 50_000));
    }
    assertEquals(15, drive.core().log().activeSegment());
    assertEquals(14, drive.count("ashlar.drive.confirmation.ops"));
    assertEquals(30, drive.count("ashlar.drive.write.ops"));
  }

  @Test
  void crashWhileLeavingASegmentIsNotDamage() throws Exception {
    int crashes = 0;
    for (int call = 1; call <= 12; call++) {
      SimulatedCore drive = new SimulatedCore(LIMITS, new RecentBlockMemory(0), call);
      drive.commit(1, noise(1, 100_000));
      drive.disk.crashAtCall(call);
      try {
        drive.commit(2, noise(2, 50_000));
      } catch (PowerLoss e) {
        crashes++;
      }
      drive.disk.reboot();
      drive.index.lose();
      drive.reopen();
      drive.commit(3, noise(3, 5000));
      drive.commit(4, noise(4, 100_000));
      drive.index.lose();
      drive.reopen();
      assertArrayEquals(noise(1, 100_000), drive.read(1, 0, 100_000));
      assertArrayEquals(noise(3, 5000), drive.read(3, 0, 5000));
      assertArrayEquals(noise(4, 100_000), drive.read(4, 0, 100_000));
      assertEquals(FIRST_INCARNATION, drive.core().drive().incarnation(), "call " + call);
    }
    assertTrue(crashes >= 6, "of writing and syncing a seal, a name, and a batch");
    assertFalse(crashes == 12, "a call after all that");
  }
}
