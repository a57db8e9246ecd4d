package dev.ashlar.metadata.state.blob;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.LostShard;
import dev.ashlar.protocol.message.RecordLostShards;
import dev.ashlar.protocol.message.RepairBlob;
import dev.ashlar.protocol.message.RepairedShard;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which shards become owed because they were found lost. */
class LostShardsTest extends ChangeFixture {
  /** The shard was looked for as this row says, and is not there. */
  private LostShard.Builder lost(BlobRow row, int slot) {
    return LostShard.newBuilder()
        .setDrive(TestBlobs.acks(metadata, row.getPg()).get(slot))
        .setName(ShardId.name(row, slot).toMessage())
        .setLastChange(Repairs.lastChange(row, slot));
  }

  private ResultCode owe(BlobRow row, LostShard.Builder... shards) throws Exception {
    RecordLostShards.Builder owe = RecordLostShards.newBuilder().setBlob(row.getId());
    for (LostShard.Builder shard : shards) {
      owe.addShards(shard);
    }
    return metadata.submit(Command.newBuilder().setRecordLostShards(owe)).getCode();
  }

  @Test
  void lostShardIsADebt() throws Exception {
    put("k", STRIPE);
    BlobRow row = row("k");
    assertEquals(ResultCode.OK, owe(row, lost(row, 3)));
    assertEquals(List.of(3), row("k").getDebtSlotsList());
    assertEquals(1, metadata.debts().getFirst().getSpare());
    BlobRow inDebt = row("k");
    assertEquals(ResultCode.OK, owe(row, lost(row, 3)), "it is owed already");
    assertEquals(inDebt, row("k"));
  }

  @Test
  void debtsNeverExceedTheShardsThatMayBeLost() throws Exception {
    put("k", STRIPE);
    BlobRow row = row("k");
    assertEquals(ResultCode.NOT_DURABLE, owe(row, lost(row, 0), lost(row, 1), lost(row, 2)));
    assertEquals(List.of(), row("k").getDebtSlotsList(), "all or nothing");
    assertEquals(ResultCode.OK, owe(row, lost(row, 0), lost(row, 1)));
    assertEquals(ResultCode.NOT_DURABLE, owe(row, lost(row, 2)));
  }

  @Test
  void aShardThatWasChangedSinceIsNot() throws Exception {
    put("k", STRIPE);
    BlobRow row = row("k");
    ok(patch("k", row, 0, 10)); // slot 0 and the parity
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, owe(row, lost(row, 0)));
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, owe(row, lost(row, 4)));
    assertEquals(ResultCode.OK, owe(row, lost(row, 1)), "the change is not a part of it");
    BlobRow changed = row("k");
    ok(fold(changed, 1));
    assertEquals(ResultCode.OK, owe(changed, lost(changed, 0)), "folded, but not changed");
  }

  @Test
  void aShardThatWasRebuiltSinceIsNot() throws Exception {
    put("k", STRIPE);
    BlobRow row = row("k");
    assertEquals(ResultCode.OK, owe(row, lost(row, 2)));
    RepairedShard.Builder repaired =
        RepairedShard.newBuilder()
            .setAck(TestBlobs.acks(metadata, row.getPg()).get(2))
            .setName(new BlobId(metadata.session(), 1 << 20).toMessage())
            .setNameBefore(ShardId.name(row, 2).toMessage());
    ok(
        Command.newBuilder()
            .setRepairBlob(RepairBlob.newBuilder().setBlob(row.getId()).addShards(repaired)));
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, owe(row, lost(row, 2)));
    assertEquals(ResultCode.OK, owe(row("k"), lost(row("k"), 2)));
  }

  @Test
  void shardOfADriveInAnotherIncarnationIsNoSecondDebt() throws Exception {
    put("k", STRIPE);
    BlobRow row = row("k");
    LostShard.Builder before = lost(row, 1);
    wipe(row.getPg(), 1);
    assertEquals(ResultCode.OK, owe(row, before), "it is owed since the drive was replaced");
    put("new", STRIPE);
    BlobRow later = row("new");
    LostShard.Builder stale = lost(later, 1).setDrive(before.getDrive());
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, owe(later, stale));
  }

  @Test
  void aShardOfADeletedBlobIsNot() throws Exception {
    put("k", STRIPE);
    BlobRow row = row("k");
    ok(TestBlobs.delete("b", "k"));
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, owe(row, lost(row, 0)));
    assertEquals(List.of(), metadata.debts());
  }

  @Test
  void slotWithoutBytesHasNoDebt() throws Exception {
    put("k", 10);
    BlobRow row = row("k");
    assertEquals(ResultCode.INVALID_COMMAND, owe(row, lost(row, 1)));
    assertEquals(
        ResultCode.INVALID_COMMAND,
        owe(row, lost(row, 0).setDrive(lost(row, 0).getDrive().toBuilder().setSlot(6))));
  }
}
