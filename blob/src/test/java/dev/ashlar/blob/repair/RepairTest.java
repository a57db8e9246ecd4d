package dev.ashlar.blob.repair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.engine.ChangeFixture;
import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.table.Changes;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ForwardingShardStore;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.message.BalanceRow;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.SetBalance;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Shards that are owed come back, whatever else happens to their blob. */
class RepairTest {
  private static final int UNIT = 4096;
  private final Random random = new Random(5);

  private byte[] bytes(int length) {
    return EngineFixture.bytes(random, length);
  }

  private static long readBytes(ChangeFixture fixture) {
    return fixture.drives.stream().mapToLong(MemoryShardStore::readBytes).sum();
  }

  @Test
  void replacedDrivesGetTheirShardsBack() throws Exception {
    for (String profile : List.of("4+2", "1+2", "3+1", "2+2,optimizations=off")) {
      Profile shape = Profile.parse(profile, UNIT);
      for (int length :
          new int[] {1, UNIT, UNIT + 1, shape.stripeBytes(), 9 * shape.stripeBytes() + 5000}) {
        ChangeFixture fixture = new ChangeFixture(shape);
        fixture.put(bytes(length));
        for (int lost = 1; lost <= shape.parityShards(); lost++) {
          for (int i = 0; i < lost; i++) {
            fixture.replace((lost + 2 * i) % shape.shards(), true);
          }
          fixture.repairAll();
          fixture.assertWhole(profile + " of " + length + " after " + lost);
        }
      }
    }
  }

  @Test
  void repairReadsAsManyShardsAsItMustOnceForAllThatAreLost() throws Exception {
    Profile profile = Profile.parse("4+2", UNIT);
    for (List<Integer> lost : List.of(List.of(1), List.of(5), List.of(0, 3), List.of(2, 4))) {
      ChangeFixture fixture = new ChangeFixture(profile);
      fixture.put(bytes(20 * profile.stripeBytes()));
      long shard = 20L * UNIT;
      for (int slot : lost) {
        fixture.replace(slot, true);
      }
      long before = readBytes(fixture);
      fixture.repairAll();
      assertEquals(4 * shard, readBytes(fixture) - before, "bytes read for " + lost);
      assertEquals(lost.size() * shard, fixture.count("ashlar.repair.rebuilt"));
      fixture.assertWhole("lost " + lost);
    }
  }

  @Test
  void removedBlobHasNoDebts() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
    assertEquals(BlobRepair.Outcome.REPAIRED, fixture.repair.repair(new BlobId(7, 7)));
  }

  /** Other metadata, which an operator may still bring, knows shards where they were. */
  @Test
  void nothingIsMovedWhileMetadataIsRestored() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
    fixture.put(bytes(100_000));
    fixture.exchangeDrives(1, 3);
    TreeMap<byte[], Optional<byte[]>> rows = new TreeMap<>(Arrays::compareUnsigned);
    BalanceRow restored = BalanceRow.newBuilder().setRestored(true).build();
    rows.put(Keys.balance(), Optional.of(restored.toByteArray()));
    fixture.metadata.table().write(new Changes(rows));
    fixture.replace(5, true);
    fixture.repairAll();
    assertEquals(0, fixture.count("ashlar.repair.moved.shards"));
    assertEquals(1, fixture.count("ashlar.repair.rebuilt.shards"));
    fixture.metadata.require(Command.newBuilder().setSetBalance(SetBalance.getDefaultInstance()));
    fixture.repairAll();
    assertEquals(2, fixture.count("ashlar.repair.moved.shards"));
    fixture.assertWhole("accepted");
  }

  @Test
  void aCopyIsMadeOfOneOther() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
    fixture.put(bytes(3000));
    for (int slot : new int[] {0, 5}) {
      fixture.replace(slot, true);
      long before = readBytes(fixture);
      fixture.repairAll();
      assertEquals(3000, readBytes(fixture) - before);
    }
    fixture.assertWhole("copies");
  }

  @Test
  void returningDriveWithItsDataIsNotRebuilt() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
    fixture.put(bytes(100_000));
    fixture.change(5000, bytes(50_000));
    fixture.foldAll();
    fixture.replace(2, false);
    fixture.repairAll();
    assertTrue(fixture.count("ashlar.repair.found.shards") > 0);
    assertEquals(0, fixture.count("ashlar.repair.rebuilt.shards"));
    fixture.assertWhole("as before");
  }

  @Test
  void writesMissedByAnAbsentDriveAreRepaired() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
    fixture.put(bytes(60_000));
    for (int slot = 0; slot < 6; slot++) {
      fixture.setReachable(slot, false);
      fixture.change(0, bytes(30_000));
      fixture.change(fixture.expected.length, bytes(20_000));
      fixture.repairAll();
      assertEquals(1, fixture.metadata.debts().size(), "the drive is away");
      fixture.setReachable(slot, true);
      fixture.repairAll();
      fixture.foldAll();
      fixture.assertWhole("slot " + slot);
      fixture.change(100, bytes(25_000)); // upon what was rebuilt
      fixture.foldAll();
      fixture.assertWhole("changed after slot " + slot);
    }
  }

  @Test
  void aWriteThatADriveMissedIsMadeUpFor() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
    fixture.drives.get(4).failWrites(ShardFault.IO_ERROR);
    fixture.put(bytes(200_000));
    assertEquals(1, fixture.metadata.debts().getFirst().getSpare());
    fixture.drives.get(4).failWrites(null);
    fixture.repairAll();
    fixture.assertWhole("made up for");
  }

  /** Of its unfolded change the drive has the first pieces, under checksums that are right. */
  @Test
  void aChangeOfWhichADriveMissedTheEndIsMadeUpFor() throws Exception {
    Profile profile = Profile.parse("4+2", UNIT);
    for (int slot = 0; slot < profile.shards(); slot++) {
      ChangeFixture fixture = new ChangeFixture(profile);
      fixture.put(bytes(7 * profile.stripeBytes())); // one blob
      cutOffAfterTheFirstPiece(fixture, slot);
      fixture.change(100, bytes(6 * profile.stripeBytes()));
      assertEquals(List.of(slot), fixture.lastBlob().getDebtSlotsList());
      fixture.reachThrough(slot, fixture.drives.get(slot));
      fixture.repairAll();
      fixture.foldAll();
      fixture.assertWhole("after the fold, slot " + slot);
    }
  }

  private static void cutOffAfterTheFirstPiece(ChangeFixture fixture, int slot) {
    fixture.reachThrough(slot, new CutOff(fixture.drives.get(slot)));
  }

  /** A drive that is told the first of what would change it, and nothing more. */
  private static final class CutOff extends ForwardingShardStore {
    private boolean isCutOff;

    CutOff(ShardStore drive) {
      super(drive);
    }

    private boolean isTold(Completion<DriveId> completion) {
      if (isCutOff) {
        completion.failed(new ShardException(ShardFault.UNAVAILABLE, "cut off"));
        return false;
      }
      isCutOff = true;
      return true;
    }

    @Override
    public void prepare(ShardIntent intent, Completion<DriveId> completion) {
      if (isTold(completion)) {
        super.prepare(intent, completion);
      }
    }

    @Override
    public void fold(List<FoldIntent> folds, Completion<DriveId> completion) {
      if (isTold(completion)) {
        super.fold(folds, completion);
      }
    }

    @Override
    public void drop(List<DiscardIntent> drops, Completion<DriveId> completion) {
      if (isTold(completion)) {
        super.drop(drops, completion);
      }
    }

    @Override
    public void delete(List<BlobId> blobs, Completion<DriveId> completion) {
      if (isTold(completion)) {
        super.delete(blobs, completion);
      }
    }
  }

  @Test
  void theMostEndangeredComeFirst() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
    fixture.setReachable(1, false);
    fixture.put(bytes(100));
    fixture.put(bytes(100_000));
    fixture.setReachable(1, true);
    fixture.replace(0, true);
    fixture.repairer.round();
    assertEquals(
        List.of(),
        fixture.metadata.blobsInDebt(0, null, 10),
        "two shards were owed, and are there after one round");
    fixture.repairAll();
    assertEquals(List.of(), fixture.metadata.debts());
  }

  @Test
  void whatIsOwedIsMeasuredByWhatIsToSpare() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
    fixture.put(bytes(100_000));
    fixture.copyTo("kept");
    fixture.setReachable(1, false);
    fixture.put(bytes(100_000));
    fixture.repairer.round();
    assertEquals(List.of(0L, 0L, 1L), levels(fixture));
    loseForGood(fixture, 2);
    assertEquals(List.of(0L, 1L, 1L), levels(fixture));
    loseForGood(fixture, 3);
    loseForGood(fixture, 4);
    assertEquals(List.of(2L, 0L, 0L), levels(fixture), "one lacks three shards, one four");
  }

  /** What the drive had is owed, and it is not there to be written to. */
  private static void loseForGood(ChangeFixture fixture, int slot) throws Exception {
    fixture.replace(slot, true);
    fixture.setReachable(slot, false);
    fixture.repairer.round();
  }

  /** Blobs that cannot be read, may lose nothing, or one shard more. */
  private static List<Long> levels(ChangeFixture fixture) {
    return LongStream.rangeClosed(-1, 1)
        .mapToObj(
            spare ->
                (long)
                    fixture
                        .meters
                        .get("ashlar.repair.debt.level.blobs")
                        .tag("spare", Long.toString(spare))
                        .gauge()
                        .value())
        .toList();
  }

  /** Something else happens right before the drive takes a rebuilt shard. */
  private static void beforeRepairWrites(ChangeFixture fixture, int slot, Work work) {
    fixture.reachThrough(slot, new Interrupting(fixture.drives.get(slot), work));
  }

  /** A drive before whose first write something else happens. */
  private static final class Interrupting extends ForwardingShardStore {
    private final Work work;
    private boolean hasHappened;

    Interrupting(ShardStore drive, Work work) {
      super(drive);
      this.work = work;
    }

    @Override
    public void write(ShardWrite write, Completion<DriveId> completion) {
      if (!hasHappened) {
        hasHappened = true;
        try {
          work.run();
        } catch (Exception e) {
          throw new AssertionError(e);
        }
      }
      super.write(write, completion);
    }
  }

  private interface Work {
    void run() throws Exception;
  }

  @Test
  void aChangeBesideItMakesARebuiltShardStale() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
    fixture.put(bytes(100_000));
    fixture.replace(4, true);
    beforeRepairWrites(fixture, 4, () -> fixture.change(70_000, bytes(10)));
    fixture.repairer.round();
    assertEquals(1, fixture.count("ashlar.repair.refused"));
    assertEquals(List.of(4), fixture.lastBlob().getDebtSlotsList());
    assertEquals(0, fixture.drives.get(4).storedBytes(), "what did not count is gone");
    fixture.repairAll();
    fixture.foldAll();
    fixture.assertWhole("repaired after the change");
  }

  @Test
  void aBlobThatIsDeletedMeanwhileLeavesNothing() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
    fixture.put(bytes(100_000));
    fixture.replace(3, true);
    beforeRepairWrites(fixture, 3, () -> fixture.metadata.submit(TestBlobs.delete("b", "k")));
    fixture.repairer.round();
    assertEquals(0, fixture.drives.get(3).storedBytes());
    assertEquals(List.of(), fixture.metadata.debts());
    fixture.assertNothingHeld();
  }

  @Test
  void ofTwoThatRepairTheSameOneCounts() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
    fixture.put(bytes(100_000));
    fixture.change(0, bytes(40_000));
    fixture.foldAll();
    fixture.replace(0, true);
    fixture.replace(5, true);
    BlobId blob = BlobId.of(fixture.lastBlob().getId());
    fixture.repairer.round();
    fixture.replace(0, true);
    fixture.replace(5, true);
    beforeRepairWrites(fixture, 0, () -> fixture.repair.repair(blob));
    fixture.repairAll();
    fixture.assertWhole("one of them");
  }

  @Test
  void aFailedWriteLeavesTheDebt() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
    fixture.put(bytes(300_000));
    fixture.replace(1, true);
    fixture.replace(2, true);
    int[] writes = new int[1];
    MemoryShardStore drive = fixture.drives.get(2);
    beforeRepairWrites(fixture, 2, () -> drive.failWrites(ShardFault.FULL));
    fixture.repairer.round();
    for (BlobRow row : fixture.metadata.blobsInDebt(1, null, 10)) {
      assertEquals(List.of(2), row.getDebtSlotsList());
      writes[0]++;
    }
    assertTrue(writes[0] > 0);
    drive.failWrites(null);
    fixture.repairAll();
    fixture.assertWhole("in the end");
  }

  @Test
  void foundShardsHelpToRebuildTheRest() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
    fixture.put(bytes(100_000));
    fixture.replace(0, true);
    fixture.replace(1, false);
    fixture.replace(2, false);
    fixture.repairAll();
    assertTrue(fixture.count("ashlar.repair.found.shards") > 0);
    fixture.assertWhole("two came back with what they had");
  }

  @Test
  void tooManyLossesStayDebtsUntilADriveComesBack() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
    fixture.put(bytes(100_000));
    fixture.replace(0, true);
    fixture.setReachable(1, false);
    fixture.setReachable(2, false);
    fixture.repairAll();
    assertEquals(1, LongStream.of(fixture.metadata.debts().size()).sum());
    fixture.setReachable(2, true);
    fixture.repairAll();
    fixture.setReachable(1, true);
    fixture.assertWhole("four were left");
  }
}
