package dev.ashlar.metadata.state.blob;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryTable;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.state.MetadataState;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.message.AppliedRow;
import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DebtLevel;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.EndSessions;
import dev.ashlar.protocol.message.ForgetBlobs;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.RecordDebts;
import dev.ashlar.protocol.message.RepairBlob;
import dev.ashlar.protocol.message.RepairedShard;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SettleDrive;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What counts as owed, and what pays it. */
class RepairsTest extends ChangeFixture {
  private long names = 1 << 20;

  private void note(BlobRow... rows) throws Exception {
    RecordDebts.Builder note = RecordDebts.newBuilder();
    for (BlobRow row : rows) {
      note.addBlobs(row.getId());
    }
    ok(Command.newBuilder().setRecordDebts(note));
  }

  /** The shard was made from this row, under a new name. */
  private RepairedShard.Builder repaired(BlobRow row, int slot) {
    return found(row, slot).setName(new BlobId(metadata.session(), names++).toMessage());
  }

  /** The shard was found on its drive as this row says. */
  private RepairedShard.Builder found(BlobRow row, int slot) {
    return RepairedShard.newBuilder()
        .setAck(TestBlobs.acks(metadata, row.getPg()).get(slot))
        .setName(ShardId.name(row, slot).toMessage())
        .setNameBefore(ShardId.name(row, slot).toMessage())
        .setLastChange(lastChange(row, slot));
  }

  private static long lastChange(BlobRow row, int slot) {
    long folded = row.getFoldedCount() == 0 ? 0 : row.getFolded(slot);
    return row.getAttemptsList().stream()
        .filter(attempt -> attempt.getSlotsList().contains(slot))
        .mapToLong(AttemptRow::getRevision)
        .max()
        .orElse(folded);
  }

  private ResultCode repair(BlobRow row, RepairedShard.Builder... shards) throws Exception {
    RepairBlob.Builder repair = RepairBlob.newBuilder().setBlob(row.getId());
    for (RepairedShard.Builder shard : shards) {
      repair.addShards(shard);
    }
    return metadata.submit(Command.newBuilder().setRepairBlob(repair)).getCode();
  }

  /** Which of the names the drive of this slot has to keep. */
  private Set<BlobId> known(BlobRow row, int slot, BlobId... names) throws Exception {
    return metadata.neededShards(metadata.placement().drive(row.getPg(), slot), List.of(names));
  }

  private BlobRow wiped(String key, int... slots) throws Exception {
    for (int slot : slots) {
      wipe(row(key).getPg(), slot);
    }
    note(row(key));
    return row(key);
  }

  @Test
  void rowsSettledBeforeAnIncarnationHaveDebtsOnceRecorded() throws Exception {
    put("old", STRIPE);
    put("short", 10);
    int pg = row("old").getPg();
    wipe(pg, 2);
    put("new", STRIPE);
    note(row("old"), row("short"), row("new"));
    assertEquals(List.of(2), row("old").getDebtSlotsList());
    assertEquals(List.of(), row("new").getDebtSlotsList());
    for (int slot : row("short").getDebtSlotsList()) {
      assertTrue(slot == 0 || slot >= 4, "a slot without bytes owes none");
    }
    assertEquals(1, metadata.debts().getFirst().getSpare());
    assertTrue(metadata.blobsInDebt(1, null, 10).contains(row("old")));
  }

  @Test
  void driveIsSettledInTheIncarnationInWhichItWasSearched() throws Exception {
    put("k", STRIPE);
    wipe(row("k").getPg(), 0);
    DriveRow drive = unsettled().getFirst();
    SettleDrive.Builder settle =
        SettleDrive.newBuilder()
            .setDriveHigh(drive.getDriveHigh())
            .setDriveLow(drive.getDriveLow())
            .setChangedAt(drive.getChangedAt());
    ok(Command.newBuilder().setSettleDrive(settle.setIncarnation(1)));
    assertEquals(List.of(drive), unsettled());
    ok(Command.newBuilder().setSettleDrive(settle.setIncarnation(2)));
    assertEquals(List.of(), unsettled());
  }

  private List<DriveRow> unsettled() throws Exception {
    return metadata.registry().getDrivesList().stream().filter(DriveRow::getUnsettled).toList();
  }

  @Test
  void changesOfBlobsWithLossesNeedTheDurableMinimum() throws Exception {
    put("k", STRIPE);
    BlobRow base = row("k");
    wipe(base.getPg(), 1);
    ok(patch("k", base, 0, 10)); // acknowledged by drives in their present lives
    assertEquals(List.of(1), row("k").getDebtSlotsList());
    wipe(base.getPg(), 2);
    refused(ResultCode.NOT_DURABLE, patch("k", row("k"), 20, 10));
    ok(fold(row("k"), 1)); // which owes no more than was lost
    assertEquals(List.of(1, 2), row("k").getDebtSlotsList());
    assertEquals(0, row("k").getAttemptsCount());
  }

  @Test
  void aRebuiltShardIsItsSlotsUnderItsName() throws Exception {
    put("k", STRIPE);
    ok(patch("k", row("k"), 0, 10));
    ok(fold(row("k"), 1));
    BlobRow row = wiped("k", 0, 4);
    RepairedShard.Builder first = repaired(row, 0);
    RepairedShard.Builder second = repaired(row, 4);
    assertEquals(ResultCode.OK, repair(row, first, second));
    BlobRow after = row("k");
    assertEquals(List.of(), after.getDebtSlotsList());
    assertEquals(List.of(), metadata.debts());
    BlobId name = BlobId.of(first.getName());
    assertEquals(name, ShardId.name(after, 0));
    assertEquals(BlobId.of(row.getId()), ShardId.name(after, 1));
    assertEquals(0, after.getFolded(0));
    assertEquals(1, after.getFolded(5));
    BlobId own = BlobId.of(row.getId());
    assertEquals(Set.of(name), known(row, 0, name, own));
    assertEquals(Set.of(own), known(row, 1, own), "there the shard never had another");
    assertEquals(after, metadata.blobs(List.of(name)).getFirst());
    assertEquals(ResultCode.OK, repair(row, first, second), "again");
    assertEquals(after.getRebuiltList(), row("k").getRebuiltList());
  }

  @Test
  void onlyShardsStillInDebtCount() throws Exception {
    put("k", STRIPE);
    BlobRow whole = row("k");
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, repair(whole, repaired(whole, 3)));
    BlobRow row = wiped("k", 3);
    assertEquals(
        ResultCode.CONDITIONAL_CONFLICT,
        repair(row, repaired(row, 3), repaired(row, 2)),
        "all or nothing");
    RepairedShard.Builder rival = repaired(row, 3);
    assertEquals(ResultCode.OK, repair(row, repaired(row, 3)));
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, repair(row, rival));
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, repair(row, found(row, 3)));
    assertEquals(Set.of(), known(row, 3, BlobId.of(rival.getName())));
  }

  @Test
  void shardMadeBeforeAChangeOfTheSlotDoesNotCount() throws Exception {
    put("k", 2 * STRIPE);
    BlobRow row = wiped("k", 0);
    RepairedShard.Builder data = repaired(row, 0);
    ok(patch("k", row("k"), UNIT, 10)); // of slot 1
    assertEquals(ResultCode.OK, repair(row, data), "slot 0 is as it was");
    BlobRow before = wiped("k", 5);
    ok(patch("k", row("k"), STRIPE + UNIT, 10));
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, repair(before, repaired(before, 5)));
    ok(fold(row("k"), 2));
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, repair(before, repaired(before, 5)));
    assertEquals(ResultCode.OK, repair(row("k"), repaired(row("k"), 5)));
  }

  @Test
  void changesThatAreNotFoldedArePartOfARebuiltShard() throws Exception {
    put("k", STRIPE);
    ok(patch("k", row("k"), 0, 10));
    ok(patch("k", row("k"), 20, 10));
    BlobRow row = wiped("k", 4);
    assertEquals(ResultCode.OK, repair(row, repaired(row, 4)));
    for (AttemptRow attempt : row("k").getAttemptsList()) {
      assertEquals(List.of(0, 5), attempt.getSlotsList());
    }
    ok(fold(row, 2)); // also from drives that were told of it before
    assertEquals(List.of(), row("k").getDebtSlotsList());
    assertEquals(List.of(2L, 0L, 0L, 0L, 0L, 2L), row("k").getFoldedList());
  }

  /** It may have the first pieces only, or miss the fold. */
  @Test
  void shardFoundWithAnUnfoldedChangeDoesNotCount() throws Exception {
    put("k", STRIPE);
    ok(patch("k", row("k"), 0, 10));
    BlobRow row = wiped("k", 4);
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, repair(row, found(row, 4)));
    ok(fold(row("k"), 1));
    assertEquals(ResultCode.OK, repair(row("k"), found(row("k"), 4)));
  }

  @Test
  void acknowledgementsOfEarlierIncarnationsAndOtherDrivesDoNotCount() throws Exception {
    put("k", STRIPE);
    RepairedShard.Builder old = repaired(row("k"), 2);
    BlobRow row = wiped("k", 2);
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, repair(row, old));
    RepairedShard.Builder elsewhere = repaired(row, 2);
    elsewhere.setAck(repaired(row, 3).getAck().toBuilder().setSlot(2));
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, repair(row, elsewhere));
  }

  @Test
  void intentsForTheShardThatWasReplacedAreADebt() throws Exception {
    put("k", STRIPE);
    BlobRow base = row("k");
    wipe(base.getPg(), 4);
    ModifyObject.Builder late = patch("k", base, 0, 10);
    note(base);
    assertEquals(ResultCode.OK, repair(row("k"), repaired(row("k"), 4)));
    ok(late);
    assertEquals(List.of(4), row("k").getDebtSlotsList());
    AttemptRow attempt = row("k").getAttempts(0);
    assertEquals(List.of(0, 4, 5), attempt.getSlotsList());
    ok(fold(row("k"), 1));
    assertEquals(List.of(4), row("k").getDebtSlotsList());
    assertEquals(ResultCode.OK, repair(row("k"), repaired(row("k"), 4)));
    ok(patch("k", row("k"), 0, 10)); // by who knows the new name
    assertEquals(List.of(), row("k").getDebtSlotsList());
  }

  @Test
  void aFoundShardKeepsItsName() throws Exception {
    put("k", STRIPE);
    BlobRow row = wiped("k", 1);
    assertEquals(ResultCode.OK, repair(row, found(row, 1)));
    assertEquals(List.of(), row("k").getRebuiltList());
    assertEquals(List.of(), row("k").getDebtSlotsList());
  }

  @Test
  void namesOfDeadSessionsAndThoseInUseAreRefused() throws Exception {
    put("k", STRIPE);
    put("other", STRIPE);
    BlobRow row = wiped("k", 1);
    assertEquals(
        ResultCode.INVALID_COMMAND, repair(row, repaired(row, 1).setName(row("other").getId())));
    assertEquals(
        ResultCode.DEAD_SESSION,
        repair(row, repaired(row, 1).setName(new BlobId(77, 1).toMessage())));
    RepairedShard.Builder repaired = repaired(row, 1);
    ok(Command.newBuilder().setEndSessions(EndSessions.newBuilder().setBelow(metadata.session())));
    assertEquals(ResultCode.OK, repair(row, repaired), "this session lives on");
  }

  @Test
  void namesGoWithTheirBlob() throws Exception {
    put("k", STRIPE);
    BlobRow row = wiped("k", 1);
    RepairedShard.Builder shard = repaired(row, 1);
    assertEquals(ResultCode.OK, repair(row, shard));
    BlobId name = BlobId.of(shard.getName());
    ok(TestBlobs.delete("b", "k"));
    assertEquals(Set.of(name), known(row, 1, name));
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, repair(row, repaired(row, 1)));
    ok(Command.newBuilder().setForgetBlobs(ForgetBlobs.newBuilder().addBlobs(row.getId())));
    assertEquals(Set.of(), known(row, 1, name));
  }

  @Test
  void theMostEndangeredAreListedFirstAndGarbageIsNot() throws Exception {
    put("one", STRIPE);
    put("two", STRIPE);
    put("gone", STRIPE);
    BlobRow two = row("two");
    for (String key : List.of("one", "two", "gone")) {
      wipeOnce(row(key).getPg(), 5);
    }
    wipeOnce(two.getPg(), 0);
    note(row("one"), two, row("gone"));
    ok(TestBlobs.delete("b", "gone"));
    List<DebtLevel> levels = metadata.debts();
    assertEquals(2, levels.stream().mapToLong(DebtLevel::getBlobs).sum());
    for (DebtLevel level : levels) {
      List<BlobRow> inDebt = metadata.blobsInDebt(level.getSpare(), null, 10);
      assertEquals(level.getBlobs(), inDebt.size());
      for (BlobRow row : inDebt) {
        assertEquals(level.getSpare(), 2 - row.getDebtSlotsCount());
        assertTrue(metadata.blobsInDebt(level.getSpare(), BlobId.of(row.getId()), 1).size() < 2);
      }
      long slots = inDebt.stream().mapToLong(BlobRow::getDebtSlotsCount).sum();
      assertEquals(slots * UNIT, level.getBytes());
    }
    assertTrue(levels.getFirst().getSpare() <= levels.getLast().getSpare());
    assertTrue(metadata.blobsInDebt(levels.getFirst().getSpare(), null, 10).contains(row("two")));
  }

  /** In tables of format 1 nobody kept count. */
  @Test
  void debtsAreCountedWhenOlderTablesAreOpened() throws Exception {
    put("one", STRIPE);
    put("two", 10);
    wipe(row("one").getPg(), 5);
    note(row("one"), row("two"));
    List<DebtLevel> counted = metadata.debts();
    MemoryTable old = new MemoryTable();
    metadata.table().rows().forEach((key, value) -> addUncounted(old, key, value));
    old.rows()
        .put(
            Keys.applied(),
            AppliedRow.parseFrom(requireNonNull(old.get(Keys.applied()))).toBuilder()
                .setVersion(1)
                .build()
                .toByteArray());
    MetadataState upgraded = new MetadataState(old);
    assertEquals(counted, Debts.levels(old));
    assertEquals(2, upgraded.applied().getVersion());
    assertEquals(upgraded.applied(), new MetadataState(old).applied());
  }

  private static void addUncounted(MemoryTable table, byte[] key, byte[] value) {
    if (key[0] != 'Y') {
      table.rows().put(key, value);
    }
  }

  /** The count is what a count would come to, whatever happens in whatever order. */
  @Test
  void debtsAreCountedAsTheyChange() throws Exception {
    Random random = new Random(7);
    Set<Integer> spares = new TreeSet<>();
    for (int i = 0; i < 300; i++) {
      String key = "k" + random.nextInt(6);
      switch (random.nextInt(6)) {
        case 0, 1 -> put(key, 1 + random.nextInt((int) STRIPE));
        case 2 -> metadata.submit(TestBlobs.delete("b", key));
        case 3 -> {
          if (random.nextInt(8) == 0) {
            wipeOnce(random.nextInt(8), random.nextInt(6));
          }
        }
        default -> noteOrRepair(key, random);
      }
      Map<Integer, Long> listed = new TreeMap<>();
      for (int spare = -6; spare <= 2; spare++) {
        listed.merge(spare, (long) metadata.blobsInDebt(spare, null, 100).size(), Long::sum);
      }
      listed.values().removeIf(count -> count == 0);
      Map<Integer, Long> counted = new TreeMap<>();
      metadata.debts().forEach(level -> counted.put(level.getSpare(), level.getBlobs()));
      assertEquals(listed, counted);
      spares.addAll(counted.keySet());
    }
    assertTrue(spares.contains(1), spares::toString);
  }

  private void noteOrRepair(String key, Random random) throws Exception {
    if (metadata.object("b", key).isEmpty()) {
      return;
    }
    BlobRow row = row(key);
    if (row.getDebtSlotsCount() == 0 || random.nextInt(3) == 0) {
      note(row);
    } else {
      repair(row, repaired(row, row.getDebtSlots(0)));
    }
  }

  private void wipeOnce(int pg, int slot) throws Exception {
    if (requireNonNull(metadata.drives().get(metadata.placement().drive(pg, slot))).incarnation()
        == 1) {
      wipe(pg, slot);
    }
  }
}
