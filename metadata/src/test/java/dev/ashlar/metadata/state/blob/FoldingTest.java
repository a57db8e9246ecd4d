package dev.ashlar.metadata.state.blob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.FoldBlob;
import dev.ashlar.protocol.message.RepairBlob;
import dev.ashlar.protocol.message.RepairedShard;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When a change that is committed may leave the list of those that are not folded. */
class FoldingTest extends FoldingFixture {
  FoldingTest() {
    super(MetadataVersion.KNOWN);
  }

  @Test
  void withAllSlotsInDebtNothingLeavesUnheard() throws Exception {
    put("k", 2 * STRIPE);
    ok(patch("k", row("k"), 0, STRIPE));
    begin("k", 0, 1, 2, 3, 4, 5);
    refused(ResultCode.NOT_DURABLE, foldedBy("k", 1));
    note("k");
    assertEquals(List.of(0, 1, 2, 3, 4, 5), row("k").getDebtSlotsList());
    refused(ResultCode.NOT_DURABLE, foldedBy("k", 1));
    refused(ResultCode.NOT_DURABLE, foldedBy("k", 1, 0, 1, 2));
    FoldBlob.Builder before = foldedBy("k", 1, 0, 1, 2, 3, 4, 5);
    begin("k", 0, 1, 2);
    refused(ResultCode.NOT_DURABLE, before); // in an incarnation that is over
    assertEquals(1, row("k").getAttemptsCount());
    ok(foldedBy("k", 1, 1, 2, 3, 4)); // the rest can be decoded from these
    assertEquals(0, row("k").getAttemptsCount());
    assertEquals(List.of(0, 1, 2, 3, 4, 5), row("k").getDebtSlotsList());
    assertEquals(List.of(1L, 1L, 1L, 1L, 1L, 1L), row("k").getFoldedList());
  }

  /** As long as nothing that it may have is given up, it does not matter what others owe. */
  @Test
  void attemptLeavesWhenAllItsHoldersHaveFoldedIt() throws Exception {
    put("k", 2 * STRIPE);
    ok(modify("k", 0, TestBlobs.piece(without(change(row("k"), 0, UNIT), 5))));
    assertEquals(List.of(5), row("k").getAttempts(0).getMissedSlotsList());
    begin("k", 0, 1, 2, 3, 4, 5);
    note("k");
    assertEquals(List.of(5), row("k").getAttempts(0).getMissedSlotsList());
    refused(ResultCode.NOT_DURABLE, foldedBy("k", 1, 0));
    refused(ResultCode.NOT_DURABLE, foldedBy("k", 1, 0, 5)); // 5 cannot have all of it
    ok(foldedBy("k", 1, 0, 4));
    assertEquals(0, row("k").getAttemptsCount());
    assertFalse(row("k").getMissedSlotsKnown());
  }

  @Test
  void aRebuiltShardMissedNothing() throws Exception {
    put("k", STRIPE);
    ok(modify("k", 0, TestBlobs.piece(without(change(row("k"), 0, UNIT), 5))));
    BlobRow row = row("k");
    RepairedShard.Builder shard =
        RepairedShard.newBuilder()
            .setAck(TestBlobs.acks(metadata, row.getPg()).get(5))
            .setName(new BlobId(metadata.session(), 1 << 20).toMessage())
            .setNameBefore(ShardId.name(row, 5).toMessage())
            .setLastChange(1);
    ok(
        Command.newBuilder()
            .setRepairBlob(RepairBlob.newBuilder().setBlob(row.getId()).addShards(shard)));
    AttemptRow attempt = row("k").getAttempts(0);
    assertEquals(List.of(0, 4), attempt.getSlotsList());
    assertEquals(List.of(), attempt.getMissedSlotsList());
  }

  @Test
  void slotsWithoutBytesAreKnownToHoldThem() throws Exception {
    put("k", 100);
    ok(append("k", row("k"), 100)); // 0, 4 and 5 have bytes
    begin("k", 0, 1, 2, 3, 4, 5);
    note("k");
    assertEquals(List.of(0, 4, 5), row("k").getDebtSlotsList());
    refused(ResultCode.NOT_DURABLE, foldedBy("k", 1));
    ok(foldedBy("k", 1, 4));
    assertEquals(0, row("k").getAttemptsCount());
  }

  @Test
  void newIncarnationsOfNoMoreThanParityAreNotWaitedFor() throws Exception {
    put("k", 2 * STRIPE);
    ok(patch("k", row("k"), 0, STRIPE));
    begin("k", 0, 4);
    note("k");
    ok(foldedBy("k", 1, 1, 2, 3, 5));
    assertEquals(0, row("k").getAttemptsCount());
  }
}
