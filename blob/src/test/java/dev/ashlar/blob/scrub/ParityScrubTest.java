package dev.ashlar.blob.scrub;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.blob.engine.ChangeFixture;
import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.blob.scrub.ParityCheck.Result;
import dev.ashlar.protocol.client.AbstractShardChangesContract;
import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Shards that are as they were written, but not of the same data. */
class ParityScrubTest {
  private static final int UNIT = 4096;
  private final Random random = new Random(11);

  private ChangeFixture fixture(String profile, int length) throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse(profile, UNIT));
    fixture.put(EngineFixture.bytes(random, length));
    return fixture;
  }

  private static ParityCheck.Found check(ChangeFixture fixture) throws Exception {
    BlobRow row = fixture.lastBlob();
    long longest = BlobRows.layout(row).shardLength(0);
    try (RequestMemory memory = new RequestMemory(fixture.memory)) {
      return new ParityCheck(fixture.context).check(row, new ByteRange(0, longest), memory);
    }
  }

  /** What lies there instead has the right checksums. */
  private void exchange(ChangeFixture fixture, int slot) throws Exception {
    BlobRow row = fixture.lastBlob();
    ShardId shard = ShardId.of(row, slot);
    MemoryShardStore drive = fixture.holder(slot);
    int length = (int) BlobRows.layout(row).shardLength(slot);
    drive.delete(List.of(BlobId.of(row.getId())), new Answer<>());
    drive.write(
        AbstractShardStoreContract.shardWrite(shard, 0, EngineFixture.bytes(random, length)),
        new Answer<>());
  }

  private ParityScrub scrub(ChangeFixture fixture) {
    return fixture.engine.newParityScrub(new ByteRateLimiter(0), Duration.ofDays(1), random);
  }

  @Test
  void aPeriodMayBeLongerThanNanosecondsCanCount() throws Exception {
    ChangeFixture fixture = fixture("4+2", 3000);
    ParityScrub scrub =
        fixture.engine.newParityScrub(new ByteRateLimiter(0), Duration.ofDays(365_000), random);
    while (scrub.checkNext()) {
      // one page after the other
    }
    assertEquals(false, scrub.checkNext());
  }

  @Test
  void blobWrittenAtOnceIsConsistent() throws Exception {
    for (String profile : List.of("4+2", "1+2", "3+1", "2+2,optimizations=off")) {
      for (int length : new int[] {1, UNIT, UNIT + 1, 5 * UNIT + 7, 40_000}) {
        ChangeFixture fixture = fixture(profile, length);
        assertEquals(Result.CONSISTENT, check(fixture).result(), profile + " of " + length);
        fixture.assertNothingHeld();
      }
    }
  }

  @Test
  void changedAndFoldedBlobIsConsistent() throws Exception {
    ChangeFixture fixture = fixture("4+2", 60_000);
    fixture.change(100, EngineFixture.bytes(random, 30_000));
    assertEquals(false, ParityCheck.isComparable(fixture.lastBlob()), "unfolded");
    fixture.foldAll();
    assertEquals(true, ParityCheck.isComparable(fixture.lastBlob()));
    assertEquals(Result.CONSISTENT, check(fixture).result());
  }

  @Test
  void theShardThatContradictsTheOthersIsMended() throws Exception {
    for (int length : new int[] {3000, 40_000}) {
      int slots = 6;
      for (int slot = 0; slot < slots; slot++) {
        if (length == 3000 && slot > 0 && slot < 4) {
          continue; // one strip: its copies are in slots 0, 4 and 5
        }
        ChangeFixture fixture = fixture("4+2", length);
        exchange(fixture, slot);
        assertEquals(
            new ParityCheck.Found(Result.ONE_DIFFERS, OptionalInt.of(slot)), check(fixture));
        scrub(fixture).checkAll();
        assertEquals(1, fixture.count("ashlar.scrub.inconsistent.samples"));
        assertEquals(List.of(slot), fixture.lastBlob().getDebtSlotsList());
        fixture.repairAll();
        fixture.assertWhole("slot " + slot + " of " + length);
      }
    }
  }

  /** The drive's shard is folded up to the first change, without what that changed. */
  private static void foldWithoutTheChange(ChangeFixture fixture, int slot) throws Exception {
    BlobRow row = fixture.lastBlob();
    ShardId shard = ShardId.of(row, slot);
    MemoryShardStore drive = fixture.holder(slot);
    long length = BlobRows.layout(row).shardLength(slot);
    Answer<ShardData> old = new Answer<>();
    drive.read(shard, ShardView.ORIGINAL, 0, 100, old);
    AttemptId other = new AttemptId(99, slot);
    drive.prepare(
        AbstractShardChangesContract.bytes(
            new ShardIntent.Target(shard, other, ShardView.ORIGINAL, length),
            0,
            AbstractShardStoreContract.bytesOf(old.await())),
        new Answer<>());
    drive.fold(List.of(new FoldIntent(shard, other, 1, 0)), new Answer<>());
  }

  @Test
  void theChangedStripThatAllParityHasMissedStays() throws Exception {
    ChangeFixture fixture = fixture("4+2", 40_000);
    fixture.change(0, EngineFixture.bytes(random, 100));
    foldWithoutTheChange(fixture, 4);
    foldWithoutTheChange(fixture, 5);
    fixture.foldAll();
    assertEquals(List.of(), fixture.lastBlob().getAttemptsList());
    assertEquals(new ParityCheck.Found(Result.ONE_DIFFERS, OptionalInt.of(0)), check(fixture));
    scrub(fixture).checkAll();
    assertEquals(List.of(), fixture.lastBlob().getDebtSlotsList());
    fixture.assertContent("what was acknowledged is still read");
    assertEquals(1, fixture.count("ashlar.scrub.undecided.samples"));
  }

  /** Where the others do not agree elsewhere, the odd one may be needed. */
  @Test
  void whatMayBeNeededElsewhereStays() throws Exception {
    ChangeFixture fixture = fixture("4+2", 2_000_000);
    exchange(fixture, 5);
    BlobRow row = fixture.lastBlob();
    ShardId shard = ShardId.of(row, 4);
    int length = (int) BlobRows.layout(row).shardLength(4);
    Answer<ShardData> whole = new Answer<>();
    fixture.holder(4).read(shard, ShardView.ORIGINAL, 0, length, whole);
    byte[] bytes = AbstractShardStoreContract.bytesOf(whole.await());
    bytes[length - 1] ^= 1;
    fixture.holder(4).delete(List.of(shard.blob()), new Answer<>());
    fixture.holder(4).write(AbstractShardStoreContract.shardWrite(shard, 0, bytes), new Answer<>());
    int passes = 20;
    ParityScrub scrub = scrub(fixture);
    for (int pass = 0; pass < passes; pass++) {
      scrub.checkAll(); // a sample anywhere
    }
    assertEquals(List.of(), fixture.lastBlob().getDebtSlotsList());
    assertEquals(passes, fixture.count("ashlar.scrub.undecided.samples"));
  }

  @Test
  void shardsThatAreToMoveAreComparedWhereTheyAre() throws Exception {
    ChangeFixture fixture = fixture("4+2", 40_000);
    fixture.exchangeDrives(2, 5);
    assertEquals(Result.CONSISTENT, check(fixture).result());
    exchange(fixture, 2);
    scrub(fixture).checkAll();
    assertEquals(List.of(2), fixture.lastBlob().getDebtSlotsList());
    fixture.repairAll();
    fixture.assertWhole("mended and moved");
  }

  @Test
  void withOneParityTheWrongShardIsUnknown() throws Exception {
    ChangeFixture fixture = fixture("3+1", 40_000);
    exchange(fixture, 1);
    assertEquals(Result.INCONSISTENT, check(fixture).result());
  }

  @Test
  void whereADriveIsAwayNothingIsDecided() throws Exception {
    ChangeFixture fixture = fixture("4+2", 40_000);
    fixture.drives.get(3).failAll(ShardFault.IO_ERROR);
    assertEquals(Result.UNDECIDED, check(fixture).result());
    fixture.assertNothingHeld();
  }
}
