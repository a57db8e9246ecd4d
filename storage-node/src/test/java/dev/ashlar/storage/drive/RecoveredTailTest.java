package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.cache.RecentBlockMemory;
import dev.ashlar.storage.drive.segment.LogPosition;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.io.SimulatedDrive;
import dev.ashlar.storage.io.SimulatedDrive.PowerLoss;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.UUID;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * What a drive's process wrote and did not sync, because it was killed or the sync failed, is found
 * by the next one, from which repair may count on it: from then on it survives a loss of power.
 */
class RecoveredTailTest {
  private static final int SEEDS = 40;
  private static final ShardId SHARD = new ShardId(new BlobId(1, 1), 0);
  private final SteppedDrive.Parts parts = new SteppedDrive.Parts(new SlabPool(), TestDrives::code);

  @Test
  void batchesFoundAfterAKillSurviveAPowerLoss() throws Exception {
    int found = 0;
    for (long seed = 0; seed < SEEDS; seed++) {
      Random random = new Random(seed);
      found += isFound(random, disk -> disk.crashAtCall(1 + random.nextInt(4))) ? 1 : 0;
    }
    assertTrue(found > 0, "no kill came between a write and its sync");
  }

  /** The kernel takes the pages of a failed sync for written: syncing them again does nothing. */
  @Test
  void batchesFoundAfterAFailedSyncSurviveAPowerLoss() throws Exception {
    int found = 0;
    for (long seed = 0; seed < SEEDS; seed++) {
      Random random = new Random(seed);
      found += isFound(random, disk -> disk.failAtCall(1 + random.nextInt(2))) ? 1 : 0;
    }
    assertTrue(found > 0, "nothing is found of a batch whose write or sync failed");
  }

  private boolean isFound(Random random, Consumer<SimulatedDrive> fault) throws Exception {
    SteppedDrive.Medium medium = new SteppedDrive.Medium(new UUID(0, 1), random);
    SteppedDrive drive = SteppedDrive.open(medium, parts);
    byte[] bytes = new byte[1 + random.nextInt(20_000)];
    random.nextBytes(bytes);
    ByteBuffer payload = ByteBuffer.allocateDirect(32_768).alignedSlice(4096).put(bytes).flip();
    Answer<DriveId> answer = new Answer<>();
    drive.write(new ShardWrite(SHARD, 0, payload, AbstractShardStoreContract.crcs(bytes)), answer);
    fault.accept(medium.disk());
    try {
      while (drive.hasWork()) {
        drive.step();
      }
    } catch (PowerLoss e) {
      // as if it had been killed
    }
    drive.die();
    medium.afterKill();
    SteppedDrive next = SteppedDrive.open(medium, parts);
    if (next.shards().isEmpty()) {
      return false;
    }
    next.die();
    medium.afterPowerLoss();
    SteppedDrive last = SteppedDrive.open(medium, parts);
    assertArrayEquals(bytes, read(last, bytes.length));
    assertEquals(next.drive(), last.drive(), "a torn tail is no loss");
    return true;
  }

  /** A start that could not overwrite the torn tail: the next one does not see it any more. */
  @Test
  void aTornTailThatWasOverwrittenInMemoryOnlyIsNoDamageLater() throws Exception {
    Random seeds = new Random(1); // of neighbouring seeds the first draws are the same
    int failedStarts = 0;
    for (int i = 0; i < SEEDS; i++) {
      long seed = seeds.nextLong();
      SimulatedCore drive = new SimulatedCore(TestDrives.TINY, new RecentBlockMemory(0), seed);
      drive.commit(1, SimulatedCore.noise(1, 1000));
      LogPosition torn = drive.core().log().end();
      drive.commit(2, SimulatedCore.noise(2, 1000));
      drive.disk.flipBit(Segment.fileName(torn.segment()), torn.offset() + 500, 1);
      drive.index.lose();
      failedStarts += fails(drive, 1 + i % 8) ? 1 : 0;
      drive.disk.restart();
      drive.reopen();
      drive.commit(3, SimulatedCore.noise(3, 127_500)); // does not fit behind the first
      assertEquals(2, drive.core().log().activeSegment());
      drive.disk.reboot();
      drive.index.lose();
      drive.reopen();
      assertEquals(1000, drive.core().drive().incarnation(), "seed " + seed);
      assertArrayEquals(SimulatedCore.noise(1, 1000), drive.read(1, 0, 1000));
      assertArrayEquals(SimulatedCore.noise(3, 127_500), drive.read(3, 0, 127_500));
    }
    assertTrue(failedStarts > 0, "no start failed");
  }

  private static boolean fails(SimulatedCore drive, int atCall) {
    drive.disk.failAtCall(atCall);
    try {
      drive.reopen();
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  private static byte[] read(SteppedDrive drive, int length)
      throws ShardException, InterruptedException {
    Answer<ShardData> answer = new Answer<>();
    drive.read(SHARD, ShardView.ORIGINAL, 0, length, answer);
    drive.step();
    ShardData data = answer.await();
    byte[] bytes = new byte[length];
    data.bytes().get(bytes);
    data.release();
    return bytes;
  }
}
