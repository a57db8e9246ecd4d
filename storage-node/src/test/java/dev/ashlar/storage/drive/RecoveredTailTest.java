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
import dev.ashlar.storage.io.SimulatedDrive.PowerLoss;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/**
 * What a drive's process wrote and did not sync before it was killed is found by the next one, from
 * which repair may count on it: from then on it survives a loss of power.
 */
class RecoveredTailTest {
  private static final int SEEDS = 40;
  private static final ShardId SHARD = new ShardId(new BlobId(1, 1), 0);
  private final SteppedDrive.Parts parts = new SteppedDrive.Parts(new SlabPool(), TestDrives::code);

  @Test
  void whatIsFoundAfterAKillStaysWithoutPower() throws Exception {
    int found = 0;
    for (long seed = 0; seed < SEEDS; seed++) {
      found += isFound(new Random(seed)) ? 1 : 0;
    }
    assertTrue(found > 0, "no kill came between a write and its sync");
  }

  private boolean isFound(Random random) throws Exception {
    SteppedDrive.Medium medium = new SteppedDrive.Medium(new UUID(0, 1), random);
    SteppedDrive drive = SteppedDrive.open(medium, parts);
    byte[] bytes = new byte[1 + random.nextInt(20_000)];
    random.nextBytes(bytes);
    ByteBuffer payload = ByteBuffer.allocateDirect(32_768).alignedSlice(4096).put(bytes).flip();
    Answer<DriveId> answer = new Answer<>();
    drive.write(new ShardWrite(SHARD, 0, payload, AbstractShardStoreContract.crcs(bytes)), answer);
    medium.disk().crashAtCall(1 + random.nextInt(4));
    try {
      while (drive.hasWork()) {
        drive.step();
      }
    } catch (PowerLoss e) {
      drive.die();
    }
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
