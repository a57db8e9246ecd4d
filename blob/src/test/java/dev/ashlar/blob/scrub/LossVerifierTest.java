package dev.ashlar.blob.scrub;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.context.SuspectShardQueue;
import dev.ashlar.blob.context.SuspectShardQueue.Fate;
import dev.ashlar.blob.context.SuspectShardQueue.Suspect;
import dev.ashlar.blob.engine.ChangeFixture;
import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.blob.scrub.LossVerifier.Outcome;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What a read misses is repaired, and what it only seemed to miss is not. */
class LossVerifierTest {
  private static final int UNIT = 4096;
  private static final ByteRange FIRST_BYTE = new ByteRange(0, 1);
  private final Random random = new Random(7);

  private byte[] bytes(int length) {
    return EngineFixture.bytes(random, length);
  }

  private ChangeFixture fixture() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
    fixture.put(bytes(100_000));
    return fixture;
  }

  private static MemoryShardStore drive(ChangeFixture fixture, BlobRow row, int slot) {
    return fixture.drives.stream()
        .filter(
            drive ->
                drive.drive().id().equals(fixture.metadata.placement().drive(row.getPg(), slot)))
        .findFirst()
        .orElseThrow();
  }

  private static Suspect suspect(BlobRow row, int slot) {
    return new Suspect(ShardId.of(row, slot), FIRST_BYTE, ShardFault.MISSING);
  }

  @Test
  void aDamagedShardThatAReadMetIsMended() throws Exception {
    ChangeFixture fixture = fixture();
    damagedAndMet(fixture);
    assertEquals(List.of(), fixture.metadata.debts(), "nobody has looked again");
    fixture.losses.verifyAll();
    assertEquals(List.of(1), fixture.lastBlob().getDebtSlotsList());
    assertEquals(1, fixture.count("ashlar.repair.lost.shards"));
    fixture.repairAll();
    fixture.assertWhole("mended");
  }

  @Test
  void missingShardIsRepaired() throws Exception {
    ChangeFixture fixture = fixture();
    for (SliceValue slice : fixture.object().object().getSlicesList()) {
      BlobId blob = BlobId.of(slice.getBlob());
      fixture.drives.get(2).delete(List.of(blob), new Answer<>());
    }
    fixture.assertContent("from the others");
    fixture.losses.verifyAll();
    fixture.repairAll();
    fixture.assertWhole("mended");
  }

  /** Each is damaged somewhere else, so all can be read, and must stay so. */
  @Test
  void moreDamagedShardsThanMayBeLostAreMendedOneAfterTheOther() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
    fixture.put(bytes(7 * 4 * UNIT)); // three windows
    BlobRow row = fixture.lastBlob();
    for (int slot = 0; slot < 3; slot++) {
      damagePart(fixture, row, slot, 3 * slot);
    }
    for (int slot = 0; slot < 3; slot++) {
      ByteRange damaged = new ByteRange(3L * slot * UNIT, UNIT);
      fixture.losses.look(new Suspect(ShardId.of(row, slot), damaged, ShardFault.CORRUPT));
      fixture.assertContent("after " + slot);
    }
    assertEquals(List.of(0, 1), fixture.lastBlob().getDebtSlotsList());
    fixture.repairAll();
    assertEquals(List.of(), fixture.metadata.debts());
    fixture.assertContent("after the first two");
    fixture.losses.verifyAll();
    fixture.repairAll();
    for (int slot = 0; slot < 3; slot++) {
      fixture.reachThrough(slot, fixture.drives.get(slot));
    }
    fixture.assertContent("in the end");
  }

  /** As of an extent whose first damaged block a patch has replaced, so that no read needs it. */
  @Test
  void damageIsFoundBesideAPlaceThatIsIntact() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
    fixture.put(bytes(7 * 4 * UNIT));
    BlobRow row = fixture.lastBlob();
    damagePart(fixture, row, 1, 5);
    SuspectShardQueue found = fixture.context.suspects();
    for (int block : new int[] {2, 5}) {
      ByteRange range = new ByteRange((long) block * UNIT, UNIT);
      assertTrue(found.add(new Suspect(ShardId.of(row, 1), range, ShardFault.CORRUPT)));
    }
    fixture.losses.verifyAll();
    assertEquals(List.of(1), fixture.lastBlob().getDebtSlotsList());
  }

  /** What was found while the shard was examined is not forgotten when that stays undecided. */
  @Test
  void whatIsFoundDuringAnExaminationIsAddedToIt() {
    SuspectShardQueue suspects = new SuspectShardQueue();
    ShardId shard = suspect(1).shard();
    for (Fate fate : new Fate[] {Fate.POSTPONED, Fate.NOT_LOOKED_AT}) {
      suspects.add(new Suspect(shard, new ByteRange(0, UNIT), ShardFault.CORRUPT));
      Suspect taken = requireNonNull(suspects.take());
      suspects.add(new Suspect(shard, new ByteRange(5 * UNIT, UNIT), ShardFault.CORRUPT));
      suspects.giveBack(taken, fate);
      suspects.recall();
      assertEquals(new ByteRange(0, 6 * UNIT), requireNonNull(suspects.take()).range());
      suspects.giveBack(taken, Fate.SETTLED);
    }
    assertEquals(0, suspects.unsettled());
  }

  /** Reads of the shard that touch this block fail from now on, until it has another name. */
  private static void damagePart(ChangeFixture fixture, BlobRow row, int slot, int block) {
    MemoryShardStore drive = drive(fixture, row, slot);
    ShardId damaged = ShardId.of(row, slot);
    ShardStore wrapped =
        (ShardStore)
            Proxy.newProxyInstance(
                ShardStore.class.getClassLoader(),
                new Class<?>[] {ShardStore.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("read") && arguments[0].equals(damaged)) {
                    long from = (long) arguments[2];
                    long to = from + (int) arguments[3];
                    if (from < (block + 1L) * UNIT && to > (long) block * UNIT) {
                      ((Completion<?>) arguments[4])
                          .failed(new ShardException(ShardFault.CORRUPT, "damaged"));
                      return null;
                    }
                  }
                  try {
                    return method.invoke(drive, arguments);
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                });
    fixture.reachThrough(fixture.drives.indexOf(drive), wrapped);
  }

  @Test
  void presentShardIsNoDebt() throws Exception {
    ChangeFixture fixture = fixture();
    for (int slot = 0; slot < 6; slot++) {
      assertEquals(
          Outcome.REFUTED, fixture.losses.look(suspect(fixture.lastBlob(), slot)), "slot " + slot);
    }
    assertEquals(List.of(), fixture.metadata.debts());
    assertEquals(6, fixture.count("ashlar.repair.refuted.shards"));
  }

  /** The read that seemed to miss it was older than the fold. */
  @Test
  void shardFoldedSinceIsNoDebt() throws Exception {
    ChangeFixture fixture = fixture();
    fixture.change(0, bytes(40_000));
    BlobRow before = fixture.lastBlob();
    fixture.foldAll();
    for (int slot = 0; slot < 6; slot++) {
      assertEquals(Outcome.REFUTED, fixture.losses.look(suspect(before, slot)));
    }
    assertEquals(List.of(), fixture.metadata.debts());
  }

  /** The drive has no longer what the old name stood for. */
  @Test
  void shardRebuiltSinceIsNoDebt() throws Exception {
    ChangeFixture fixture = fixture();
    BlobRow before = fixture.lastBlob();
    fixture.replace(3, true);
    fixture.repairAll();
    int slot = fixture.lastBlob().getRebuilt(0).getSlot();
    assertEquals(Outcome.REFUTED, fixture.losses.look(suspect(before, slot)));
    assertEquals(List.of(), fixture.metadata.debts());
    fixture.assertWhole("as repaired");
  }

  @Test
  void shardOfADeletedBlobIsNoDebt() throws Exception {
    ChangeFixture fixture = fixture();
    BlobRow before = fixture.lastBlob();
    fixture.metadata.submit(TestBlobs.delete(ChangeFixture.BUCKET, ChangeFixture.KEY));
    assertEquals(Outcome.REFUTED, fixture.losses.look(suspect(before, 0)));
    assertEquals(List.of(), fixture.metadata.debts());
  }

  @Test
  void failedDriveIsNoShardLoss() throws Exception {
    ChangeFixture fixture = fixture();
    BlobRow row = fixture.lastBlob();
    drive(fixture, row, 2).failAll(ShardFault.IO_ERROR);
    fixture.assertContent("from the others");
    assertEquals(Outcome.UNDECIDED, fixture.losses.look(suspect(row, 2)));
    assertEquals(List.of(), fixture.metadata.debts());
  }

  @Test
  void eachShardWaitsOnceAndNotMoreThanThereIsRoomFor() throws Exception {
    SuspectShardQueue suspects = new SuspectShardQueue();
    for (int i = 0; i < SuspectShardQueue.WAITING_MAX; i++) {
      assertTrue(suspects.add(suspect(i)));
      assertTrue(suspects.add(suspect(i)));
    }
    assertFalse(suspects.add(suspect(-1)));
    assertEquals(suspect(0), suspects.take());
    assertFalse(suspects.add(suspect(-1)), "nobody knows what came of the first");
    suspects.giveBack(suspect(0), Fate.SETTLED);
    assertTrue(suspects.add(suspect(-1)));
    assertEquals(SuspectShardQueue.WAITING_MAX, suspects.unsettled());
  }

  @Test
  void undecidedSuspectsAreDroppedFirst() {
    SuspectShardQueue suspects = new SuspectShardQueue();
    for (int i = 0; i < SuspectShardQueue.WAITING_MAX; i++) {
      assertTrue(suspects.add(suspect(i)));
    }
    suspects.giveBack(requireNonNull(suspects.take()), Fate.NOT_LOOKED_AT);
    assertFalse(suspects.add(suspect(-1)));
    suspects.giveBack(requireNonNull(suspects.take()), Fate.POSTPONED);
    assertTrue(suspects.add(suspect(-1)));
    assertFalse(suspects.add(suspect(-2)));
    assertEquals(SuspectShardQueue.WAITING_MAX, suspects.unsettled());
  }

  /** As during an election. */
  @Test
  void aSuspectIsNotForgottenWhileThereIsNoMetadata() throws Exception {
    ChangeFixture fixture = fixture();
    damagedAndMet(fixture);
    fixture.metadata.setUnavailable(true);
    for (int i = 0; i < 3; i++) {
      assertThrows(MetadataUnavailableException.class, () -> fixture.losses.verifyAll());
      assertEquals(1, unsettled(fixture));
    }
    fixture.metadata.setUnavailable(false);
    fixture.losses.verifyAll();
    assertEquals(0, unsettled(fixture));
    assertEquals(List.of(1), fixture.lastBlob().getDebtSlotsList());
  }

  @Test
  void aSuspectIsNotForgottenWhileItsDriveHangs() throws Exception {
    ChangeFixture fixture = fixture();
    BlobRow row = damagedAndMet(fixture);
    drive(fixture, row, 1).failAll(ShardFault.UNAVAILABLE);
    fixture.losses.verifyAll();
    assertEquals(1, unsettled(fixture));
    drive(fixture, row, 1).failAll(null);
    fixture.losses.verifyAll();
    assertEquals(0, unsettled(fixture));
    assertEquals(List.of(1), fixture.lastBlob().getDebtSlotsList());
  }

  @Test
  void aSuspectIsNotForgottenWhileMemoryIsUsedUp() throws Exception {
    ChangeFixture fixture = fixture();
    damagedAndMet(fixture);
    long bytes = fixture.memory.largestBytes();
    fixture.memory.reserve(bytes);
    fixture.losses.verifyAll();
    assertEquals(1, unsettled(fixture));
    fixture.memory.release(bytes);
    fixture.losses.verifyAll();
    assertEquals(List.of(1), fixture.lastBlob().getDebtSlotsList());
  }

  /** The blob whose second shard is damaged, which a read has met. */
  private BlobRow damagedAndMet(ChangeFixture fixture) throws Exception {
    BlobRow row = fixture.lastBlob();
    drive(fixture, row, 1).corrupt(ShardId.of(row, 1));
    fixture.assertContent("from the others");
    return row;
  }

  private static int unsettled(ChangeFixture fixture) {
    return (int) fixture.meters.get("ashlar.repair.suspect.shards").gauge().value();
  }

  /** It is lost where it is, and nowhere else. */
  @Test
  void shardBeforeItsMoveIsSearchedOnItsOldDrive() throws Exception {
    ChangeFixture fixture = fixture();
    BlobRow row = fixture.lastBlob();
    MemoryShardStore holder = fixture.holder(1);
    fixture.exchangeDrives(1, 4);
    for (int slot = 0; slot < 6; slot++) {
      assertEquals(Outcome.REFUTED, fixture.losses.look(suspect(row, slot)), "slot " + slot);
    }
    holder.corrupt(ShardId.of(row, 1));
    fixture.assertContent("from the others");
    fixture.losses.verifyAll();
    assertEquals(List.of(1), fixture.lastBlob().getDebtSlotsList());
    fixture.repairAll();
    assertEquals(
        fixture.metadata.placement().drive(row.getPg(), 1), fixture.holder(1).drive().id());
    fixture.assertWhole("mended and moved");
    assertEquals(Outcome.REFUTED, fixture.losses.look(suspect(row, 4)), "it has moved");
  }

  private static Suspect suspect(long sequence) {
    return new Suspect(new ShardId(new BlobId(1, sequence), 0), FIRST_BYTE, ShardFault.CORRUPT);
  }
}
