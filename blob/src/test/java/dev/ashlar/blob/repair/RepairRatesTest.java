package dev.ashlar.blob.repair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.engine.ChangeFixture;
import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.RecordDebts;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What is moved and what is missing are read at rates of their own. */
class RepairRatesTest {
  private static final int UNIT = 4096;

  /** Lets everything pass, and counts it. */
  private static final class CountingPace extends ByteRateLimiter {
    private final AtomicLong bytes = new AtomicLong();

    CountingPace() {
      super(0);
    }

    @Override
    public void take(long more) {
      bytes.addAndGet(more);
    }
  }

  private final ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
  private final CountingPace lost = new CountingPace();
  private final CountingPace moves = new CountingPace();

  RepairRatesTest() throws Exception {
    fixture.put(EngineFixture.bytes(new Random(13), 8 * UNIT)); // two blocks of each shard
  }

  private void repair() throws Exception {
    fixture.metadata.require(
        Command.newBuilder()
            .setRecordDebts(RecordDebts.newBuilder().addBlobs(fixture.lastBlob().getId())));
    BlobRepair repair = fixture.engine.newBlobRepair(new RepairRates(lost, moves));
    assertEquals(BlobRepair.Outcome.REPAIRED, repair.repair(BlobId.of(fixture.lastBlob().getId())));
    fixture.cleaner.retry();
    fixture.assertWhole("repaired");
  }

  @Test
  void movedShardsAreReadAtTheRateOfMoves() throws Exception {
    fixture.exchangeDrives(1, 2);
    repair();
    assertEquals(2 * 2 * UNIT, moves.bytes.get());
    assertEquals(0, lost.bytes.get());
  }

  @Test
  void missingShardsAreReadAtTheRateOfRepair() throws Exception {
    fixture.replace(3, true);
    repair();
    assertEquals(0, moves.bytes.get());
    assertTrue(lost.bytes.get() >= 4 * 2 * UNIT, lost.bytes.get() + " bytes");
  }
}
