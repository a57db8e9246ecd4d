package dev.ashlar.metadata.state.blob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveLoad;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.LostShard;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.MoveSlots;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.RecordDebts;
import dev.ashlar.protocol.message.RecordLostShards;
import dev.ashlar.protocol.message.RepairBlob;
import dev.ashlar.protocol.message.RepairedShard;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.message.SlotMove;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.DriveSettlement;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.ShardId;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Where shards are while slots get other drives, and what counts. */
class MovesTest extends ChangeFixture {
  private long names = 1 << 20;

  private MoveSlots.Builder move(int pg, int slot, UUID drive) {
    return MoveSlots.newBuilder()
        .setBaseEpoch(metadata.placement().epoch())
        .addMoves(
            SlotMove.newBuilder()
                .setPg(pg)
                .setSlot(slot)
                .setDriveHigh(drive.getMostSignificantBits())
                .setDriveLow(drive.getLeastSignificantBits()));
  }

  private static Command.Builder command(MoveSlots.Builder moves) {
    return Command.newBuilder().setMoveSlots(moves);
  }

  /** A drive that has no slot of the group. */
  private UUID spare(int pg) {
    return metadata.drives().keySet().stream()
        .filter(drive -> !metadata.placement().slotDrives().get(pg).contains(drive))
        .sorted()
        .findFirst()
        .orElseThrow();
  }

  private UUID at(String key, int slot) throws Exception {
    return metadata.placement().location(row(key), slot);
  }

  private void note(BlobRow row) throws Exception {
    ok(Command.newBuilder().setRecordDebts(RecordDebts.newBuilder().addBlobs(row.getId())));
  }

  private RepairedShard.Builder moved(BlobRow row, int slot) {
    return RepairedShard.newBuilder()
        .setAck(TestBlobs.acks(metadata, row.getPg()).get(slot))
        .setName(new BlobId(metadata.session(), names++).toMessage())
        .setNameBefore(ShardId.name(row, slot).toMessage());
  }

  private ResultCode repair(BlobRow row, RepairedShard.Builder... shards) throws Exception {
    RepairBlob.Builder repair = RepairBlob.newBuilder().setBlob(row.getId());
    for (RepairedShard.Builder shard : shards) {
      repair.addShards(shard);
    }
    return metadata.submit(Command.newBuilder().setRepairBlob(repair)).getCode();
  }

  private List<DriveLoad> loads() throws Exception {
    return metadata.registry().getLoadsList();
  }

  @Test
  void aShardStaysWhereItIsUntilItCountsElsewhere() throws Exception {
    put("k", STRIPE);
    BlobRow before = row("k");
    int pg = before.getPg();
    UUID from = metadata.placement().drive(pg, 2);
    UUID to = spare(pg);
    ok(command(move(pg, 2, to)));
    assertEquals(from, at("k", 2));
    assertEquals(before, row("k"), "the map writes no rows");
    note(before);
    BlobRow noted = row("k");
    assertEquals(from, at("k", 2));
    assertEquals(List.of(), noted.getDebtSlotsList());
    assertEquals(1, loads().getFirst().getShards());
    assertEquals(UNIT, loads().getFirst().getBytes());
    assertEquals(2, metadata.debts().getFirst().getSpare(), "it may lose as many as ever");
    assertEquals(List.of(noted), metadata.blobsInDebt(2, null, 10));
    BlobId own = BlobId.of(before.getId());
    assertEquals(Set.of(own), metadata.neededShards(from, List.of(own)));
    RepairedShard.Builder copy = moved(noted, 2);
    assertEquals(ResultCode.OK, repair(noted, copy));
    assertEquals(to, at("k", 2));
    assertEquals(List.of(), row("k").getRelocatedShardsList());
    assertEquals(List.of(), loads());
    assertEquals(List.of(), metadata.debts());
    assertEquals(Set.of(), metadata.neededShards(from, List.of(own)));
    assertEquals(ResultCode.OK, repair(noted, copy), "again");
  }

  private ResultCode owe(BlobRow row, SlotAck asked) throws Exception {
    LostShard.Builder lost =
        LostShard.newBuilder()
            .setDrive(asked)
            .setName(ShardId.name(row, asked.getSlot()).toMessage())
            .setLastChange(Repairs.lastChange(row, asked.getSlot()));
    RecordLostShards.Builder owe =
        RecordLostShards.newBuilder().setBlob(row.getId()).addShards(lost);
    return metadata.submit(Command.newBuilder().setRecordLostShards(owe)).getCode();
  }

  @Test
  void aShardIsLostOnlyWhereItIs() throws Exception {
    put("k", STRIPE);
    BlobRow row = row("k");
    SlotAck atFirst = TestBlobs.acks(metadata, row.getPg()).get(2);
    ok(command(move(row.getPg(), 2, spare(row.getPg()))));
    SlotAck afterwards = TestBlobs.acks(metadata, row.getPg()).get(2);
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, owe(row, afterwards), "it is not there yet");
    note(row);
    BlobRow noted = row("k");
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, owe(noted, afterwards), "nor is it now");
    assertEquals(ResultCode.OK, repair(noted, moved(noted, 2)));
    BlobRow moved = row("k");
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, owe(moved, atFirst), "it was there");
    assertEquals(List.of(), moved.getDebtSlotsList());
    assertEquals(ResultCode.OK, owe(moved, afterwards));
    assertEquals(List.of(2), row("k").getDebtSlotsList());
  }

  @Test
  void shardLostBeforeItsMoveIsADebtAndNoLongerMoved() throws Exception {
    put("k", STRIPE);
    BlobRow row = row("k");
    SlotAck atFirst = TestBlobs.acks(metadata, row.getPg()).get(2);
    ok(command(move(row.getPg(), 2, spare(row.getPg()))));
    assertEquals(ResultCode.OK, owe(row, atFirst), "its row does not know that it moves");
    BlobRow inDebt = row("k");
    assertEquals(List.of(2), inDebt.getDebtSlotsList());
    assertEquals(List.of(), loads());
    assertEquals(1, metadata.debts().getFirst().getSpare());
    assertEquals(ResultCode.OK, repair(inDebt, moved(inDebt, 2)));
    assertEquals(metadata.placement().drive(row.getPg(), 2), at("k", 2));
    assertEquals(List.of(), metadata.debts());
  }

  /** A row that is older than the map, and a map that has moved on twice. */
  @Test
  void rowsMeanTheMapOfTheirTime() throws Exception {
    put("old", STRIPE);
    BlobRow old = row("old");
    UUID first = metadata.placement().drive(old.getPg(), 0);
    UUID second = spare(old.getPg());
    ok(command(move(old.getPg(), 0, second)));
    UUID third = spare(old.getPg());
    assertNotEquals(first, second);
    ok(command(move(old.getPg(), 0, third)));
    assertEquals(first, metadata.placement().location(old, 0));
    note(old);
    assertEquals(first, at("old", 0));
    assertEquals(third, metadata.placement().drive(old.getPg(), 0));
  }

  @Test
  void changedMapRefusesMovesFromAnOlderOne() throws Exception {
    UUID drive = spare(0);
    MoveSlots.Builder move = move(0, 1, drive);
    ok(command(move.clone()));
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, metadata.submit(command(move.clone())).getCode());
    assertEquals(
        ResultCode.INVALID_COMMAND,
        metadata.submit(command(move(0, 2, drive))).getCode(),
        "a group has a drive once");
  }

  @Test
  void shardsWrittenWithAnOlderMapCountWhereTheyAre() throws Exception {
    NewBlob.Builder blob = blob(STRIPE);
    UUID from = metadata.placement().drive(blob.getPg(), 3);
    ok(command(move(blob.getPg(), 3, spare(blob.getPg()))));
    ok(
        Command.newBuilder()
            .setPutObject(
                PutObject.newBuilder()
                    .setBucket("b")
                    .setKey("k")
                    .addBlobs(blob)
                    .setSummary(ObjectSummary.newBuilder().setSize(STRIPE).setEtag("e"))));
    assertEquals(List.of(), row("k").getDebtSlotsList());
    assertEquals(from, at("k", 3));
    assertEquals(1, metadata.debts().getFirst().getBlobs());
  }

  @Test
  void changesCountWhereTheShardIs() throws Exception {
    put("k", STRIPE);
    BlobRow base = row("k");
    ModifyObject.Builder early = patch("k", base, 0, 10);
    ModifyObject.Builder late = patch("k", base, 20, 10);
    ok(command(move(base.getPg(), 0, spare(base.getPg()))));
    ok(early);
    assertEquals(List.of(), row("k").getDebtSlotsList());
    BlobRow row = row("k");
    assertEquals(
        ResultCode.CONDITIONAL_CONFLICT, repair(row, moved(row, 0)), "the change came behind it");
    assertEquals(ResultCode.OK, repair(row, moved(row, 0).setLastChange(1)));
    refused(ResultCode.CONDITIONAL_CONFLICT, late);
    assertEquals(List.of(), row("k").getDebtSlotsList());
  }

  /** Its slot had no bytes, so nothing says any more that they were to come to the old drive. */
  @Test
  void anAppendToADriveThatHasLostItsSlotSinceIsMadeAgain() throws Exception {
    put("k", 10);
    BlobRow base = row("k");
    ModifyObject.Builder append = patch("k", base, 10, UNIT);
    ok(command(move(base.getPg(), 1, spare(base.getPg()))));
    note(base);
    refused(ResultCode.CONDITIONAL_CONFLICT, append);
    ok(patch("k", row("k"), 10, UNIT));
    assertEquals(List.of(), row("k").getDebtSlotsList());
  }

  /** What drives are told to remove is named by the blob, and they may be told late. */
  @Test
  void shardPutOnADriveHasAnotherNameThanTheOneToBeRemoved() throws Exception {
    put("k", 10);
    BlobRow before = row("k");
    int pg = before.getPg();
    UUID parity = metadata.placement().drive(pg, 4);
    ModifyObject.Builder early = patch("k", before, 10, UNIT);
    ok(command(move(pg, 4, spare(pg))));
    ok(command(move(pg, 1, parity)));
    note(before);
    BlobRow noted = row("k");
    RepairedShard.Builder copy = moved(noted, 4);
    assertEquals(ResultCode.OK, repair(noted, copy));
    BlobRow row = row("k");
    BlobId old = BlobId.of(before.getId());
    assertEquals(parity, at("k", 1));
    assertEquals(BlobId.of(copy.getName()), ShardId.name(row, 1));
    assertEquals(old, ShardId.name(row, 0), "which has bytes");
    assertEquals(Set.of(), metadata.neededShards(parity, List.of(old)));
    refused(ResultCode.CONDITIONAL_CONFLICT, early);
    ok(patch("k", row, 10, UNIT));
    assertEquals(List.of(), row("k").getDebtSlotsList());
    assertEquals(ResultCode.OK, owe(row("k"), TestBlobs.acks(metadata, pg).get(4)));
    assertEquals(ResultCode.OK, repair(row("k"), moved(row("k"), 4).setLastChange(1)));
    BlobId name = ShardId.name(row("k"), 1);
    assertEquals(Set.of(name), metadata.neededShards(parity, List.of(name)), "still in use");
  }

  /** Written by a map in which the slots were other drives'. */
  @Test
  void aSlotWithoutBytesStaysAwayFromADriveThatStillHasAnotherShard() throws Exception {
    NewBlob.Builder early = blob(10);
    int pg = early.getPg();
    List<SlotAck> written =
        early.getAcksList().stream()
            .filter(ack -> ack.getSlot() % 4 < 2 && ack.getSlot() != 1)
            .toList();
    UUID parity = metadata.placement().drive(pg, 4);
    UUID empty = metadata.placement().drive(pg, 1);
    ok(command(move(pg, 4, spare(pg))));
    ok(command(move(pg, 1, parity)));
    ok(
        Command.newBuilder()
            .setPutObject(
                PutObject.newBuilder()
                    .setBucket("b")
                    .setKey("k")
                    .addBlobs(early.clearAcks().addAllAcks(written))
                    .setSummary(ObjectSummary.newBuilder().setSize(10).setEtag("e"))));
    assertEquals(parity, at("k", 4));
    assertEquals(empty, at("k", 1));
    assertEquals(List.of(), row("k").getDebtSlotsList());
  }

  @Test
  void noTwoShardsComeToOneDrive() throws Exception {
    put("k", STRIPE);
    BlobRow row = row("k");
    int pg = row.getPg();
    UUID freed = metadata.placement().drive(pg, 0);
    ok(command(move(pg, 0, spare(pg))));
    ok(command(move(pg, 1, freed))); // which still has the shard of slot 0
    note(row);
    BlobRow noted = row("k");
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, repair(noted, moved(noted, 1)));
    assertEquals(ResultCode.OK, repair(noted, moved(noted, 0), moved(noted, 1)));
    assertEquals(List.of(), row("k").getRelocatedShardsList());
  }

  @Test
  void shardsOnADriveThatIsOutCountAsLostButNotAsDebts() throws Exception {
    put("k", STRIPE);
    BlobRow row = row("k");
    int pg = row.getPg();
    UUID out = metadata.placement().drive(pg, 4);
    DriveRow.Builder standing =
        new DriveId(out, 1).toMessage().toBuilder().setStanding(DriveStanding.STANDING_OUT);
    ok(command(move(pg, 4, spare(pg)).addDrives(standing)));
    note(row);
    assertEquals(List.of(), row("k").getDebtSlotsList());
    assertTrue(row("k").getRelocatedShards(0).getOut());
    assertEquals(1, metadata.debts().getFirst().getSpare());
    ok(
        command(
            move(pg, 4, out).addDrives(standing.clone().setStanding(DriveStanding.STANDING_IN))));
    note(row("k"));
    assertEquals(List.of(), row("k").getRelocatedShardsList(), "it is where it belongs again");
    assertEquals(List.of(), metadata.debts());
  }

  /** It was replaced while it still had a shard that belonged elsewhere by then. */
  @Test
  void shardsLostByALeavingDriveAreDebts() throws Exception {
    put("k", STRIPE);
    int pg = row("k").getPg();
    UUID from = metadata.placement().drive(pg, 5);
    ok(command(move(pg, 5, spare(pg))));
    put("new", STRIPE);
    ok(
        Command.newBuilder()
            .setPutDrives(PutDrives.newBuilder().addDrives(new DriveId(from, 2).toMessage())));
    note(row("k"));
    assertEquals(List.of(5), row("k").getDebtSlotsList());
    BlobRow row = row("k");
    assertEquals(ResultCode.OK, repair(row, moved(row, 5)));
    assertEquals(metadata.placement().drive(pg, 5), at("k", 5));
  }

  @Test
  void aDriveIsSettledWhenNothingHasChangedSince() throws Exception {
    UUID from = metadata.placement().drive(0, 0);
    ok(command(move(0, 0, spare(0))));
    DriveRow drive = drive(from);
    assertTrue(drive.getUnsettled());
    ok(command(move(7, metadata.placement().slotDrives().get(7).indexOf(from), spare(7))));
    settle(drive);
    assertTrue(drive(from).getUnsettled());
    settle(drive(from));
    assertFalse(drive(from).getUnsettled());
  }

  private DriveRow drive(UUID id) throws Exception {
    return metadata.registry().getDrivesList().stream()
        .filter(row -> DriveId.idOf(row).equals(id))
        .findFirst()
        .orElseThrow();
  }

  private void settle(DriveRow drive) throws Exception {
    ok(DriveSettlement.of(drive));
  }

  @Test
  void oldMovesAreForgotten() {
    PlacementMap map = metadata.placement();
    PlacementMap.Move move = new PlacementMap.Move(0, 0, spare(0));
    PlacementMap moved = map.after(2, List.of(move), 100, 1000, true);
    assertEquals(1, moved.pastOf(0).size());
    assertEquals(moved, PlacementMap.of(moved.toMessage()));
    long later = 1001 + PlacementMap.PAST_KEPT_MS;
    assertEquals(1, moved.after(3, List.of(), 200, later, false).pastOf(0).size());
    assertEquals(0, moved.after(3, List.of(), 200, later, true).pastOf(0).size());
  }
}
