package dev.ashlar.metadata.state.blob;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.MemoryTable;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.state.MetadataState;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.BlobChange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.EndSessions;
import dev.ashlar.protocol.message.FoldBlob;
import dev.ashlar.protocol.message.ForgetBlobs;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.time.Clock;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which changes of one blob may follow each other, what they owe, and how they are folded. */
class BlobChangesTest extends ChangeFixture {
  /** Rule 13. */
  @Test
  void changesOfOtherStripesCommitInAnyOrder() throws Exception {
    put("k", 4 * STRIPE);
    BlobRow base = row("k");
    ok(patch("k", base, STRIPE, 2 * STRIPE));
    ok(patch("k", base, 0, STRIPE));
    ok(patch("k", base, 3 * STRIPE, 1));
    assertEquals(3, row("k").getRevision());
    refused(ResultCode.CONDITIONAL_CONFLICT, patch("k", base, STRIPE - 1, 1));
    refused(ResultCode.CONDITIONAL_CONFLICT, patch("k", base, 2 * STRIPE, 1));
    refused(ResultCode.CONDITIONAL_CONFLICT, patch("k", base, 4 * STRIPE - 1, 1));
    ok(patch("k", row("k"), 0, 4 * STRIPE));
    assertEquals(4, row("k").getRevision());
  }

  /** Under an earlier version, nothing but the writers keeps to it. */
  @Test
  void aBlobOfABackupIsNotChangedInPlace() throws Exception {
    for (int version : new int[] {6, MetadataVersion.KNOWN}) {
      MemoryTable table = new MemoryTable();
      MemoryMetadata of = new MemoryMetadata(table, Clock.systemUTC(), version);
      PutDrives.Builder drives =
          MemoryMetadata.drives(new Profile(4, 2, (int) UNIT), MemoryMetadata.sequentialIds(6), 1);
      of.require(Command.newBuilder().setPutDrives(drives));
      of.require(TestBlobs.createBucket("b"));
      NewBlob.Builder blob = TestBlobs.acknowledged(of, new BlobId(of.session(), 1), STRIPE);
      of.require(TestBlobs.put("b", "k", blob));
      table.rows().replaceAll((key, value) -> key[0] == 'P' ? frozen(value) : value);
      BlobRow base = of.object("b", "k").orElseThrow().blobs().getFirst();
      ModifyObject.Builder patch =
          modify("k", 0, TestBlobs.piece(TestBlobs.change(of, base, 1, 0, 1)));
      ResultCode code = of.submit(Command.newBuilder().setModifyObject(patch)).getCode();
      assertEquals(version < 7 ? ResultCode.OK : ResultCode.CONDITIONAL_CONFLICT, code);
    }
  }

  private static byte[] frozen(byte[] row) {
    return Table.parse(row, BlobRow.parser()).toBuilder().setFrozen(true).build().toByteArray();
  }

  @Test
  void aBaseInBetweenSeesWhatWasBeforeIt() throws Exception {
    put("k", 2 * STRIPE);
    ok(patch("k", row("k"), 0, 1));
    BlobRow between = row("k");
    ok(patch("k", between, STRIPE, 1));
    ok(patch("k", between, 1, 1)); // its base has the first change of this stripe
    refused(ResultCode.CONDITIONAL_CONFLICT, patch("k", between, STRIPE + 1, 1));
  }

  @Test
  void anAppendAndAPatchElsewhereBothCommit() throws Exception {
    put("k", 2 * STRIPE + 10);
    BlobRow base = row("k");
    ok(append("k", base, STRIPE));
    ok(patch("k", base, 0, 2 * STRIPE));
    refused(ResultCode.CONDITIONAL_CONFLICT, patch("k", base, 2 * STRIPE, 1)); // the same stripe
    BlobRow grown = row("k");
    ok(patch("k", grown, 0, 1));
    ok(append("k", grown, 1));
    assertEquals(3 * STRIPE + 11, row("k").getLength());
  }

  @Test
  void onlyOneOfTwoAppendsWithOneBaseCommits() throws Exception {
    put("k", STRIPE);
    BlobRow base = row("k");
    ModifyObject.Builder late = patch("k", base, STRIPE, 10);
    ok(append("k", base, 10));
    refused(ResultCode.CONDITIONAL_CONFLICT, late);
    refused(ResultCode.CONDITIONAL_CONFLICT, late.setExpectedVersion(1));
  }

  @Test
  void foldedChangesAreStillCompared() throws Exception {
    put("k", 4 * STRIPE);
    BlobRow base = row("k");
    ok(patch("k", base, 0, 1));
    ok(patch("k", row("k"), STRIPE, 1));
    BlobRow second = row("k");
    ok(patch("k", second, 2 * STRIPE, 1));
    ok(fold(base, 2));
    refused(ResultCode.CONDITIONAL_CONFLICT, patch("k", base, 0, 1));
    refused(ResultCode.CONDITIONAL_CONFLICT, patch("k", base, STRIPE, 1));
    refused(ResultCode.CONDITIONAL_CONFLICT, patch("k", base, 2 * STRIPE, 1));
    ok(patch("k", second, STRIPE, 1));
    ok(patch("k", base, 3 * STRIPE, 1));
    ok(fold(base, 5));
    ok(patch("k", second, 0, 1));
  }

  @Test
  void aBaseThatIsTooOldToCompareConflicts() throws Exception {
    put("k", 2 * STRIPE);
    BlobRow first = row("k");
    ok(patch("k", first, 0, 1));
    BlobRow second = row("k");
    for (int i = 0; i < Folding.REMEMBERED_MAX; i++) {
      ok(patch("k", row("k"), 0, 1));
      ok(fold(first, row("k").getRevision()));
    }
    assertEquals(2 * Folding.REMEMBERED_MAX, row("k").getFoldedStripesCount());
    refused(ResultCode.CONDITIONAL_CONFLICT, patch("k", first, STRIPE, 1));
    ok(patch("k", second, STRIPE, 1));
    refused(ResultCode.CONDITIONAL_CONFLICT, patch("k", second, STRIPE, 1));
  }

  /** Rule 13: the writer folds and sends the same change again. */
  @Test
  void atMost32AreUnfolded() throws Exception {
    put("k", 2 * STRIPE);
    BlobRow base = row("k");
    for (int i = 0; i < 32; i++) {
      ok(patch("k", row("k"), 0, 1));
    }
    ModifyObject.Builder more = patch("k", base, STRIPE, 1);
    refused(ResultCode.TOO_MANY_UNFOLDED, more);
    ok(fold(base, 1));
    ok(more);
    refused(ResultCode.TOO_MANY_UNFOLDED, patch("k", row("k"), STRIPE, 1));
    ok(fold(base, 33));
    assertEquals(0, row("k").getAttemptsCount());
  }

  @Test
  void anAttemptCommitsOnce() throws Exception {
    put("k", 2 * STRIPE);
    BlobChange.Builder change = change(row("k"), 0, 10);
    ok(modify("k", 0, TestBlobs.piece(change)));
    refused(ResultCode.INVALID_COMMAND, modify("k", 0, TestBlobs.piece(change)));
    refused(
        ResultCode.INVALID_COMMAND,
        modify("k", STRIPE, TestBlobs.piece(change.clone().setOffset(STRIPE))));
    BlobRow committed = row("k");
    copy("k", "copy"); // refers to the attempt, whatever becomes of the object it was made for
    put("k", 10);
    refused(ResultCode.INVALID_COMMAND, modify("k", 0, TestBlobs.piece(change)));
    copy("copy", "k");
    ok(TestBlobs.delete("b", "copy"));
    ok(fold(committed, 1));
    refused(ResultCode.CONDITIONAL_CONFLICT, modify("k", 0, TestBlobs.piece(change)));
    assertEquals(1, row("k").getRevision());
  }

  /** Rule 5. */
  @Test
  void anAttemptOfADeadSessionIsRefused() throws Exception {
    put("k", 100);
    BlobRow row = row("k");
    BlobChange.Builder change = change(row, 0, 10);
    change.getAttemptBuilder().setSession(metadata.session() - 1);
    refused(ResultCode.DEAD_SESSION, modify("k", 0, TestBlobs.piece(change)));
    MemoryMetadata later = new MemoryMetadata(metadata.table(), Clock.systemUTC());
    later.submit(
        Command.newBuilder().setEndSessions(EndSessions.newBuilder().setBelow(later.session())));
    CommandResult late = later.submit(Command.newBuilder().setModifyObject(patch("k", row, 0, 10)));
    assertEquals(ResultCode.DEAD_SESSION, late.getCode());
  }

  @Test
  void aRetryGetsTheSameAnswer() throws Exception {
    put("k", 100);
    MetadataState state = new MetadataState(metadata.table());
    Command command =
        Command.newBuilder()
            .setSession(metadata.session())
            .setRequest(1_000)
            .setTimeMs(5)
            .setModifyObject(append("k", row("k"), 10))
            .build();
    long index = state.applied().getIndex();
    CommandResult first =
        state.apply(1, index + 1, MemoryMetadata.entry(command)).results().getFirst();
    assertEquals(ResultCode.OK, first.getCode());
    assertEquals(110, first.getSize());
    MetadataState restarted = new MetadataState(metadata.table());
    List<CommandResult> again =
        restarted.apply(1, index + 2, MemoryMetadata.entry(command, command)).results();
    assertEquals(List.of(first, first), again);
    assertEquals(1, row("k").getRevision());
  }

  private BlobChange.Builder without(BlobChange.Builder change, int... slots) {
    for (int slot : slots) {
      for (int i = 0; i < change.getAcksCount(); i++) {
        if (change.getAcks(i).getSlot() == slot) {
          change.removeAcks(i);
        }
      }
    }
    return change;
  }

  /** Rules 1 and 6. */
  @Test
  void aTouchedSlotWithoutAnAckIsADebt() throws Exception {
    put("k", 4 * STRIPE);
    BlobRow base = row("k");
    ok(modify("k", 0, TestBlobs.piece(without(change(base, 0, UNIT), 1, 2, 3)))); // not touched
    assertEquals(List.of(), row("k").getDebtSlotsList());
    refused(
        ResultCode.NOT_DURABLE,
        modify("k", STRIPE, TestBlobs.piece(without(change(base, STRIPE, UNIT), 4, 5))));
    ok(modify("k", STRIPE, TestBlobs.piece(without(change(base, STRIPE, UNIT), 5))));
    assertEquals(List.of(5), row("k").getDebtSlotsList());
    assertEquals(List.of(0, 4, 5), row("k").getAttempts(1).getSlotsList());
    refused(
        ResultCode.NOT_DURABLE, // with the debt that there is
        modify("k", 2 * STRIPE, TestBlobs.piece(without(change(base, 2 * STRIPE, UNIT), 4))));
    ok(patch("k", row("k"), 0, 1)); // an ack does not pay a debt
    assertEquals(List.of(5), row("k").getDebtSlotsList());
  }

  @Test
  void growthReachesSlotsThatHadNothing() throws Exception {
    put("k", 100);
    ok(modify("k", 100, TestBlobs.piece(without(change(row("k"), 100, UNIT), 1))).setAppend(true));
    assertEquals(List.of(0, 1, 4, 5), row("k").getAttempts(0).getSlotsList());
    assertEquals(List.of(1), row("k").getDebtSlotsList());
  }

  /** Rule 6. */
  @Test
  void acknowledgementOfAnEarlierIncarnationIsADebt() throws Exception {
    put("k", STRIPE);
    ModifyObject.Builder patch = patch("k", row("k"), 0, 10);
    FoldBlob.Builder fold = fold(row("k"), 1);
    wipe(row("k").getPg(), 4);
    ok(patch);
    assertEquals(List.of(4), row("k").getDebtSlotsList());
    refused(ResultCode.NOT_DURABLE, fold(row("k"), 1).removeAcks(0));
    assertEquals(1, row("k").getAttemptsCount());
    wipe(row("k").getPg(), 0);
    ok(fold); // more would not come of waiting: the drive has lost all of it
    assertEquals(List.of(0, 4), row("k").getDebtSlotsList());
  }

  @Test
  void foldingTellsPerSlotWhatItHolds() throws Exception {
    put("k", 2 * STRIPE);
    BlobRow base = row("k");
    ok(patch("k", base, UNIT, 1));
    ok(patch("k", base, STRIPE, 1));
    ok(patch("k", row("k"), 2 * UNIT, 1));
    FoldBlob.Builder two = fold(base, 2);
    two.removeAcks(3); // not touched: nobody needs to say
    ok(two);
    assertEquals(List.of(2L, 1L, 0L, 0L, 2L, 2L), row("k").getFoldedList());
    assertEquals(List.of(0L, 0L, 1L, 1L), row("k").getFoldedStripesList());
    assertEquals(1, row("k").getAttemptsCount());
    BlobRow once = row("k");
    ok(two.clearAcks()); // again, by somebody who reached nobody
    assertEquals(once, row("k"));
    ok(fold(base, 3));
    assertEquals(List.of(2L, 1L, 3L, 0L, 3L, 3L), row("k").getFoldedList());
    assertEquals(List.of(), metadata.unfolded(null, 10));
    assertEquals(List.of(), row("k").getDebtSlotsList());
  }

  @Test
  void aSlotThatDidNotFoldIsADebt() throws Exception {
    put("k", STRIPE);
    ok(patch("k", row("k"), 0, 1));
    FoldBlob.Builder fold = fold(row("k"), 1);
    fold.removeAcks(5);
    ok(fold);
    assertEquals(List.of(5), row("k").getDebtSlotsList());
    assertEquals(1, row("k").getFolded(5)); // so that its drive misses it by itself
    ok(patch("k", row("k"), 0, 1));
    FoldBlob.Builder tooFew = fold(row("k"), 2);
    tooFew.removeAcks(4);
    refused(ResultCode.NOT_DURABLE, tooFew);
    assertEquals(1, row("k").getAttemptsCount());
  }

  @Test
  void impossibleFoldsAreRefusedOrIgnored() throws Exception {
    put("k", STRIPE);
    BlobRow base = row("k");
    refused(ResultCode.INVALID_COMMAND, fold(base, 1));
    refused(ResultCode.INVALID_COMMAND, fold(base, -1));
    ok(fold(base, 0));
    ok(patch("k", base, 0, 1));
    FoldBlob.Builder absurd = fold(base, 1);
    absurd.getAcksBuilder(0).setSlot(-7);
    refused(ResultCode.INVALID_COMMAND, absurd);
    ok(FoldBlob.newBuilder().setBlob(new BlobId(metadata.session(), 999).toMessage()));
    assertEquals(1, row("k").getAttemptsCount());
  }

  @Test
  void aDeletedBlobIsNotFolded() throws Exception {
    put("k", STRIPE);
    ok(patch("k", row("k"), 0, 1));
    BlobRow row = row("k");
    ok(TestBlobs.delete("b", "k"));
    assertEquals(List.of(), metadata.unfolded(null, 10));
    ok(fold(row, 1).clearAcks());
    BlobRow garbage = metadata.garbage(Long.MAX_VALUE, null, 10).getFirst();
    assertEquals(row.getAttemptsList(), garbage.getAttemptsList()); // late readers need them
    ok(Command.newBuilder().setForgetBlobs(ForgetBlobs.newBuilder().addBlobs(row.getId())));
    ok(fold(row, 1));
    assertEquals(List.of(), metadata.blobs(List.of(BlobId.of(row.getId()))));
  }

  @Test
  void unfoldedBlobsAreFoundAfterARestart() throws Exception {
    for (int i = 0; i < 5; i++) {
      put("k" + i, 100);
      if (i % 2 == 0) {
        ok(append("k" + i, row("k" + i), 1));
      }
    }
    MemoryMetadata later = new MemoryMetadata(metadata.table(), Clock.systemUTC());
    List<BlobRow> all = later.unfolded(null, 10);
    assertEquals(List.of(row("k0"), row("k2"), row("k4")), all);
    BlobId first = BlobId.of(all.getFirst().getId());
    assertEquals(all.subList(1, 2), later.unfolded(first, 1));
    assertEquals(List.of(), later.unfolded(BlobId.of(all.getLast().getId()), 1));
    assertEquals(List.of(), later.unfolded(new BlobId(-1, -1), 1));
    copy("k0", "copy");
    ok(TestBlobs.delete("b", "k0"));
    assertEquals(3, later.unfolded(null, 10).size());
  }
}
