package dev.ashlar.metadata.state.blob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.ResultCode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Under version 2 everything is as it was, and rows of then are told apart afterwards. */
class FoldingOfVersion2Test extends FoldingFixture {
  FoldingOfVersion2Test() {
    super(2);
  }

  @Test
  void attemptsLeaveUnheard() throws Exception {
    put("k", 2 * STRIPE);
    ok(patch("k", row("k"), 0, STRIPE));
    begin("k", 0, 1, 2, 3, 4, 5);
    note("k");
    ok(foldedBy("k", 1));
    assertEquals(0, row("k").getAttemptsCount());
  }

  @Test
  void nothingIsTold() throws Exception {
    put("k", 2 * STRIPE);
    ok(modify("k", 0, TestBlobs.piece(without(change(row("k"), 0, UNIT), 5))));
    assertEquals(List.of(), row("k").getAttempts(0).getMissedSlotsList());
    assertFalse(row("k").getMissedSlotsKnown());
    note("k");
    assertFalse(row("k").getMissedSlotsKnown());
    ok(foldedBy("k", 1, 0, 4));
  }

  @Test
  void attemptsOfShortBlobsLeaveUnheard() throws Exception {
    put("k", 100);
    ok(append("k", row("k"), 100));
    begin("k", 0, 4, 5);
    note("k");
    ok(foldedBy("k", 1));
  }

  /** What stands in rows of before, and was not lost by then, is not lost afterwards. */
  @Test
  void rowsOfBeforeTellFromTheirNextChangeOn() throws Exception {
    put("k", 2 * STRIPE);
    ok(modify("k", 0, TestBlobs.piece(without(change(row("k"), 0, UNIT), 5))));
    ok(patch("k", row("k"), STRIPE, UNIT));
    metadata.raiseVersion();
    begin("k", 0, 1, 2, 3, 4, 5);
    note("k");
    BlobRow noted = row("k");
    assertTrue(noted.getMissedSlotsKnown());
    assertEquals(List.of(5), noted.getAttempts(0).getMissedSlotsList());
    assertEquals(List.of(5), noted.getAttempts(1).getMissedSlotsList());
    refused(ResultCode.NOT_DURABLE, foldedBy("k", 2, 0));
    ok(foldedBy("k", 2, 0, 4));
  }

  /** Nobody knows which slots have them: refused, until repair has made up for the debts. */
  @Test
  void oldRowsWithMoreDebtsThanACommitAllowsStayUnknown() throws Exception {
    put("k", 2 * STRIPE);
    ok(patch("k", row("k"), 0, STRIPE));
    begin("k", 0, 1, 2, 3, 4, 5);
    note("k");
    metadata.raiseVersion();
    note("k");
    assertFalse(row("k").getMissedSlotsKnown());
    refused(ResultCode.NOT_DURABLE, foldedBy("k", 1));
    refused(ResultCode.NOT_DURABLE, foldedBy("k", 1, 0, 1, 2, 3, 4, 5));
    assertEquals(1, row("k").getAttemptsCount());
  }

  @Test
  void aChangeTellsAlsoOfThoseBefore() throws Exception {
    put("k", 2 * STRIPE);
    ok(modify("k", 0, TestBlobs.piece(without(change(row("k"), 0, UNIT), 5))));
    metadata.raiseVersion();
    ok(patch("k", row("k"), STRIPE, UNIT));
    assertTrue(row("k").getMissedSlotsKnown());
    assertEquals(List.of(5), row("k").getAttempts(0).getMissedSlotsList());
    assertEquals(List.of(), row("k").getAttempts(1).getMissedSlotsList());
  }
}
