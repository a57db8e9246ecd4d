package dev.ashlar.metadata.state.object;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.state.blob.Blobs;
import dev.ashlar.metadata.state.blob.ChangeFixture;
import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CompletePart;
import dev.ashlar.protocol.message.CompleteUpload;
import dev.ashlar.protocol.message.CopyPart;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectPiece;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.Precondition;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.model.BlobId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a change makes of an object, and which objects it still fits. */
class ObjectModificationsTest extends ChangeFixture {
  private static List<Long> lengths(List<SliceValue> slices) {
    return slices.stream().map(SliceValue::getLength).toList();
  }

  @Test
  void aChangeInPlaceMakesTheNextRevision() throws Exception {
    put("k", 3 * STRIPE);
    long before = read("k").object().getVersion();
    CommandResult result = ok(patch("k", row("k"), STRIPE + UNIT, UNIT));
    ObjectSummary summary = read("k").object().getSummary();
    assertEquals(result.getVersion(), read("k").object().getVersion());
    assertNotEquals(before, result.getVersion());
    assertEquals(3 * STRIPE, result.getSize());
    assertEquals(3 * STRIPE, summary.getSize());
    assertEquals(result.getEtag(), summary.getEtag());
    assertEquals(result.getLastModifiedMs(), summary.getLastModifiedMs());
    assertEquals(List.of(3 * STRIPE), lengths(slices("k")));
    BlobRow row = row("k");
    assertEquals(1, row.getRevision());
    assertEquals(result.getVersion(), row.getRewritten());
    assertEquals(1, row.getReferences());
    AttemptRow attempt = row.getAttempts(0);
    assertEquals(List.of(1, 4, 5), attempt.getSlotsList());
    assertEquals(1, attempt.getRevision());
    assertEquals(1, attempt.getFirstStripe());
    assertEquals(1, attempt.getLastStripe());
    assertEquals(3 * STRIPE, attempt.getLength());
    assertTrue(attempt.getRewrites());
    assertEquals(List.of(row), metadata.unfolded(null, 10));
  }

  @Test
  void anAppendGrowsTheLastSliceAndRewritesNothing() throws Exception {
    put("k", 100);
    CommandResult result = ok(append("k", row("k"), 2 * STRIPE));
    assertEquals(100 + 2 * STRIPE, result.getSize());
    assertEquals(List.of(100 + 2 * STRIPE), lengths(slices("k")));
    BlobRow row = row("k");
    assertEquals(100 + 2 * STRIPE, row.getLength());
    assertEquals(0, row.getRewritten());
    assertEquals(List.of(0, 1, 2, 3, 4, 5), row.getAttempts(0).getSlotsList());
    assertEquals(2, row.getAttempts(0).getLastStripe());
    assertEquals(100 + 2 * STRIPE, row.getAttempts(0).getLength());
    // Changes a byte and appends one.
    CommandResult both = ok(patch("k", row, row.getLength() - 1, 2));
    assertEquals(both.getVersion(), row("k").getRewritten());
    assertEquals(101 + 2 * STRIPE, row("k").getLength());
  }

  @Test
  void etagsDifferAndAreNoDigests() throws Exception {
    put("k", 100);
    Set<String> etags = new HashSet<>();
    for (int i = 0; i < 10; i++) {
      String etag = ok(patch("k", row("k"), 0, 1)).getEtag();
      assertTrue(etag.matches("[0-9a-f]{32}-a"), etag);
      assertTrue(etags.add(etag));
    }
  }

  @Test
  void aChecksumIsSetOrGone() throws Exception {
    put("k", 100);
    ChecksumValue checksum =
        ChecksumValue.newBuilder().setAlgorithm(ChecksumAlgorithm.CHECKSUM_CRC32C).build();
    ok(append("k", row("k"), 1).setChecksum(checksum));
    assertEquals(checksum, read("k").object().getSummary().getChecksum());
    ok(append("k", row("k"), 1));
    assertFalse(read("k").object().getSummary().hasChecksum());
  }

  @Test
  void aChecksumCarriedOnFromAnotherVersionIsNone() throws Exception {
    put("k", 10);
    long base = read("k").object().getVersion();
    ChecksumValue checksum =
        ChecksumValue.newBuilder().setAlgorithm(ChecksumAlgorithm.CHECKSUM_CRC32C).build();
    ok(append("k", row("k"), 1).setChecksum(checksum).setChecksumBase(base));
    assertEquals(checksum, read("k").object().getSummary().getChecksum());
    ok(append("k", row("k"), 1).setChecksum(checksum).setChecksumBase(base));
    assertFalse(read("k").object().getSummary().hasChecksum());
  }

  @Test
  void anAppendIsAtTheEndAndNothingIsBehindIt() throws Exception {
    put("k", 100);
    BlobRow row = row("k");
    refused(ResultCode.INVALID_OFFSET, patch("k", row, 99, 10).setAppend(true));
    refused(ResultCode.INVALID_OFFSET, modify("k", 101, TestBlobs.piece(blob(1))));
    ok(append("k", row, 10));
    refused(ResultCode.INVALID_OFFSET, append("k", row, 10)); // the later of two
    refused(ResultCode.CONDITIONAL_CONFLICT, patch("k", row, 100, 10)); // the same as a patch
    assertEquals(110, read("k").object().getSummary().getSize());
  }

  @Test
  void conditionsAreCheckedFirst() throws Exception {
    put("k", 100);
    BlobRow row = row("k");
    ModifyObject.Builder patch = patch("k", row, 0, 10);
    patch.setPrecondition(Precondition.newBuilder().setIfMatch("other"));
    refused(ResultCode.PRECONDITION_FAILED, patch);
    refused(ResultCode.NO_SUCH_BUCKET, patch("k", row, 0, 10).setBucket("none"));
    refused(ResultCode.NO_SUCH_KEY, patch("none", row, 0, 10));
    long version = read("k").object().getVersion();
    refused(
        ResultCode.CONDITIONAL_CONFLICT, patch("k", row, 0, 10).setExpectedVersion(version + 1));
    ok(patch("k", row, 0, 10).setExpectedVersion(version));
  }

  @Test
  void aReplacedObjectIsNotChanged() throws Exception {
    put("k", 100);
    BlobRow row = row("k");
    put("k", 100);
    refused(ResultCode.CONDITIONAL_CONFLICT, patch("k", row, 0, 10));
    refused(ResultCode.CONDITIONAL_CONFLICT, append("k", row, 10));
    put("k");
    refused(ResultCode.CONDITIONAL_CONFLICT, append("k", row, 10).setOffset(0));
    ok(TestBlobs.delete("b", "k"));
    refused(ResultCode.NO_SUCH_KEY, patch("k", row, 0, 10));
  }

  @Test
  void aSharedBlobIsNotChangedInPlace() throws Exception {
    put("k", 100);
    BlobRow row = row("k");
    copy("k", "copy");
    refused(ResultCode.CONDITIONAL_CONFLICT, patch("k", row, 0, 10));
    refused(ResultCode.CONDITIONAL_CONFLICT, append("copy", row, 10));
    ok(TestBlobs.delete("b", "k"));
    ok(append("copy", row, 10));
    assertEquals(110, read("copy").object().getSummary().getSize());
    copy("copy", "again"); // with its unfolded attempt
    assertEquals(2, row("again").getReferences());
    assertEquals(1, row("again").getAttemptsCount());
  }

  /** What {@code k} holds from here on, of this length, as another object. */
  private void copyRange(String key, long offset, long length) throws Exception {
    UploadRow upload = UploadRow.newBuilder().setBucket("b").setKey(key).setUploadId("u").build();
    CopyPart.Builder copy =
        CopyPart.newBuilder()
            .setBucket("b")
            .setKey(key)
            .setUploadId("u")
            .setPart(PartRow.newBuilder().setNumber(1))
            .setSourceBucket("b")
            .setSourceKey("k")
            .setSourceOffset(offset)
            .setSourceLength(length);
    ok(Command.newBuilder().setCreateUpload(CreateUpload.newBuilder().setUpload(upload)));
    long token = ok(Command.newBuilder().setCopyPart(copy)).getVersion();
    refused(ResultCode.CONDITIONAL_CONFLICT, patch("k", row("k"), 0, 1)); // the part shares it
    ok(
        Command.newBuilder()
            .setCompleteUpload(
                CompleteUpload.newBuilder()
                    .setBucket("b")
                    .setKey(key)
                    .setUploadId("u")
                    .addParts(CompletePart.newBuilder().setNumber(1).setToken(token))));
  }

  @Test
  void aSliceInTheMiddleOfABlobIsPatchedButNotGrown() throws Exception {
    put("k", 100);
    copyRange("part", 10, 50);
    ok(TestBlobs.delete("b", "k"));
    BlobRow row = row("part");
    assertEquals(1, read("part").object().getSummary().getPartCount());
    refused(
        ResultCode.CONDITIONAL_CONFLICT,
        modify("part", 50, TestBlobs.piece(change(row, 60, 10)))); // present bytes of the blob
    refused(
        ResultCode.CONDITIONAL_CONFLICT,
        modify("part", 50, TestBlobs.piece(change(row, 100, 10))).setAppend(true));
    refused(
        ResultCode.CONDITIONAL_CONFLICT, // through bytes of the blob that are not the object's
        modify("part", 40, TestBlobs.piece(change(row, 50, 60))));
    refused(
        ResultCode.CONDITIONAL_CONFLICT, modify("part", 40, TestBlobs.piece(change(row, 50, 20))));
    refused(
        ResultCode.CONDITIONAL_CONFLICT, modify("part", 0, TestBlobs.piece(change(row, 0, 10))));
    ok(modify("part", 40, TestBlobs.piece(change(row, 50, 10))));
    assertEquals(0, read("part").object().getSummary().getPartCount());
    assertEquals(0, read("part").object().getPartsCount());
    ok(modify("part", 50, TestBlobs.piece(blob(7))).setAppend(true));
    assertEquals(List.of(50L, 7L), lengths(slices("part")));
  }

  @Test
  void aSliceAtTheEndOfABlobGrows() throws Exception {
    put("k", 100);
    copyRange("part", 90, 10);
    ok(TestBlobs.delete("b", "k"));
    ok(modify("part", 10, TestBlobs.piece(change(row("part"), 100, 5))).setAppend(true));
    assertEquals(90, slices("part").getFirst().getOffset());
    assertEquals(List.of(15L), lengths(slices("part")));
    assertEquals(105, row("part").getLength());
  }

  @Test
  void newBlobsTakeThePlaceOfSlices() throws Exception {
    put("k", 100, 200, 300);
    BlobId first = BlobId.of(slices("k").get(0).getBlob());
    BlobId second = BlobId.of(slices("k").get(1).getBlob());
    NewBlob.Builder fresh = blob(20);
    ModifyObject.Builder cut = modify("k", 50, TestBlobs.piece(fresh));
    refused(ResultCode.CONDITIONAL_CONFLICT, cut); // does not say what it replaces
    ok(cut.setExpectedVersion(read("k").object().getVersion()));
    assertEquals(List.of(50L, 20L, 30L, 200L, 300L), lengths(slices("k")));
    assertEquals(70, slices("k").get(2).getOffset());
    assertEquals(2, metadata.blobs(List.of(first)).getFirst().getReferences());
    refused(
        ResultCode.CONDITIONAL_CONFLICT,
        modify("k", 0, TestBlobs.piece(change(metadata.blobs(List.of(first)).getFirst(), 0, 9))));
    ok(
        modify("k", 80, TestBlobs.piece(blob(230)))
            .setExpectedVersion(read("k").object().getVersion()));
    assertEquals(List.of(50L, 20L, 10L, 230L, 290L), lengths(slices("k")));
    assertEquals(0, metadata.blobs(List.of(second)).getFirst().getReferences());
    ok(
        modify("k", 590, TestBlobs.piece(blob(30)))
            .setExpectedVersion(read("k").object().getVersion()));
    assertEquals(620, read("k").object().getSummary().getSize());
    ok(TestBlobs.delete("b", "k"));
    assertEquals(6, metadata.garbage(Long.MAX_VALUE, null, 10).size());
  }

  @Test
  void oneCommandChangesManyBlobsOrNone() throws Exception {
    put("k", 100, 200, 300);
    List<BlobRow> rows = read("k").blobs();
    NewBlob.Builder fresh = blob(200);
    NewBlob.Builder tail = blob(40);
    ObjectPiece.Builder last = TestBlobs.piece(change(rows.get(2), 0, 310)).toBuilder();
    ObjectPiece first = TestBlobs.piece(change(rows.get(0), 90, 10));
    long version = read("k").object().getVersion();
    last.getChangeBuilder().setBaseRevision(1);
    refused(
        ResultCode.INVALID_COMMAND,
        modify("k", 90, first, TestBlobs.piece(fresh), last.build(), TestBlobs.piece(tail))
            .setExpectedVersion(version));
    assertEquals(rows, read("k").blobs());
    last.getChangeBuilder().setBaseRevision(0);
    ok(
        modify("k", 90, first, TestBlobs.piece(fresh), last.build(), TestBlobs.piece(tail))
            .setExpectedVersion(version));
    assertEquals(List.of(100L, 200L, 310L, 40L), lengths(slices("k")));
    assertEquals(650, read("k").object().getSummary().getSize());
    assertEquals(
        List.of(1L, 0L, 1L, 0L), read("k").blobs().stream().map(BlobRow::getRevision).toList());
    assertEquals(2, metadata.unfolded(null, 10).size());
    refused(
        ResultCode.CONDITIONAL_CONFLICT, // the last slice is no longer that of this blob
        modify("k", 650, TestBlobs.piece(change(read("k").blobs().get(2), 310, 1))));
  }

  @Test
  void anEmptyObjectIsAppendedTo() throws Exception {
    put("k");
    ok(modify("k", 0, TestBlobs.piece(blob(10))).setAppend(true));
    ok(modify("k", 10, TestBlobs.piece(blob(20))).setAppend(true)); // blobs are not full
    assertEquals(List.of(10L, 20L), lengths(slices("k")));
  }

  /** Beyond it data continues in a further blob of the same command. */
  @Test
  void aBlobGrowsToItsGreatestLength() throws Exception {
    put("k", Blobs.LENGTH_MAX - 10);
    BlobRow row = row("k");
    refused(ResultCode.INVALID_COMMAND, append("k", row, 11));
    ok(
        modify(
                "k",
                row.getLength(),
                TestBlobs.piece(change(row, row.getLength(), 10)),
                TestBlobs.piece(blob(5)))
            .setAppend(true));
    assertEquals(List.of(Blobs.LENGTH_MAX, 5L), lengths(slices("k")));
  }

  @Test
  void nonsenseIsRefusedAndChangesNothing() throws Exception {
    put("k", 3 * STRIPE);
    BlobRow row = row("k");
    ObjectPiece good = TestBlobs.piece(change(row, 0, 10));
    for (ModifyObject.Builder wrong :
        List.of(
            modify("k", 0),
            modify("k", -1, good),
            modify("k", Long.MAX_VALUE - 5, good),
            modify("k", 0, good).setLength(11),
            modify("k", 0, good).setLength(9),
            modify("k", 0, good).setLength(-1),
            modify("k", 0, good, good),
            modify("k", 0, ObjectPiece.getDefaultInstance()),
            modify("k", 0, TestBlobs.piece(blob(10).setLength(0))),
            modify("k", 0, TestBlobs.piece(blob(10).setLength(-1))),
            patch("k", row, 0, -1),
            patch("k", row, 0, Long.MIN_VALUE),
            modify("k", 0, TestBlobs.piece(change(row, -1, 10))),
            modify("k", 0, TestBlobs.piece(change(row, Long.MAX_VALUE, 10))),
            modify("k", 0, TestBlobs.piece(change(row, 0, 10).setLength(Long.MAX_VALUE))),
            modify("k", 0, TestBlobs.piece(change(row, 0, 10).setBaseRevision(-1))),
            modify("k", 0, TestBlobs.piece(change(row, 0, 10).setBaseRevision(1))),
            modify("k", 0, TestBlobs.piece(change(row, 0, 10).setBaseLength(-1))),
            modify("k", 0, TestBlobs.piece(change(row, 0, 10).setBaseLength(3 * STRIPE + 1))),
            modify("k", 0, TestBlobs.piece(change(row, 0, 10).setEpoch(9))),
            modify("k", 9, TestBlobs.piece(change(row, 9, 10).setBaseLength(8))))) {
      refused(ResultCode.INVALID_COMMAND, wrong);
    }
    for (int slot : List.of(6, -1, Integer.MIN_VALUE)) {
      ObjectPiece.Builder piece = good.toBuilder();
      piece.getChangeBuilder().getAcksBuilder(0).setSlot(slot);
      refused(ResultCode.INVALID_COMMAND, modify("k", 0, piece.build()));
    }
    assertEquals(row, row("k"));
    assertEquals(List.of(), metadata.unfolded(null, 10));
  }

  /** Changing an object of many slices costs a few rows, not all. */
  @Test
  void ofManySlicesOnlyTheChunksThatDifferAreWritten() throws Exception {
    long[] lengths = new long[2500];
    Arrays.fill(lengths, 100);
    put("k", lengths);
    List<SliceValue> slices = new ArrayList<>(slices("k"));
    List<Integer> written = new ArrayList<>();
    metadata.observe((command, applied) -> written.add(applied.changes().rows().size()));
    BlobRow middle = metadata.blobs(List.of(BlobId.of(slices.get(1200).getBlob()))).getFirst();
    ok(modify("k", 120_010, TestBlobs.piece(change(middle, 10, 20))));
    assertEquals(slices, slices("k"));
    BlobRow last = metadata.blobs(List.of(BlobId.of(slices.get(2499).getBlob()))).getFirst();
    ok(modify("k", 250_000, TestBlobs.piece(change(last, 100, 5))).setAppend(true));
    slices.set(2499, slices.get(2499).toBuilder().setLength(105).build());
    assertEquals(slices, slices("k"));
    // Object, blob, unfolded, applied, dedup; a chunk, the usage of the bucket and of its account.
    assertEquals(List.of(5, 8), written);

    ok(
        modify("k", 0, TestBlobs.piece(blob(180_000)))
            .setExpectedVersion(read("k").object().getVersion()));
    assertEquals(slices.subList(1800, 2500), slices("k").subList(1, 701));
    ok(
        modify("k", 0, TestBlobs.piece(blob(250_105)))
            .setExpectedVersion(read("k").object().getVersion()));
    assertEquals(1, slices("k").size());
    ok(
        modify("k", 7, TestBlobs.piece(blob(7)))
            .setExpectedVersion(read("k").object().getVersion()));
    assertEquals(List.of(7L, 7L, 250_091L), lengths(slices("k")));
    ok(TestBlobs.delete("b", "k"));
    assertFalse(metadata.table().rows().keySet().stream().anyMatch(key -> key[0] == 'L'));
    assertEquals(2503, metadata.garbage(Long.MAX_VALUE, null, 9999).size());
  }

  /** Rule 13. */
  @Test
  void slicesPerVersionAreCapped() throws Exception {
    long[] lengths = new long[ObjectCommands.SLICES_MAX];
    Arrays.fill(lengths, 10);
    put("k", lengths);
    long version = read("k").object().getVersion();
    ModifyObject.Builder cut = modify("k", 5, TestBlobs.piece(blob(1)));
    refused(ResultCode.LIMIT_EXCEEDED, cut.setExpectedVersion(version));
    refused(ResultCode.LIMIT_EXCEEDED, modify("k", 1_000_000, TestBlobs.piece(blob(1))));
    assertEquals(version, read("k").object().getVersion());
    ok(patch("k", row("k"), 5, 1));
  }

  @Test
  void attributesStay() throws Exception {
    Command.Builder put = TestBlobs.put("b", "k", blob(100));
    put.getPutObjectBuilder()
        .getAttributesBuilder()
        .putHeaders("content-type", "x/y")
        .putUserMetadata("n", "v".repeat(300));
    ok(put);
    ok(append("k", row("k"), 1));
    ok(modify("k", 101, TestBlobs.piece(blob(7))));
    assertEquals(put.getPutObject().getAttributes(), read("k").object().getAttributes());
  }

  /** Slot numbers are unsigned on the wire: a huge one stopped the state machine. */
  @Test
  void anAckOfAnAbsurdSlotIsRefused() throws Exception {
    NewBlob.Builder blob = blob(100);
    blob.getAcksBuilder(0).setSlot(-1);
    assertEquals(
        ResultCode.INVALID_COMMAND, metadata.submit(TestBlobs.put("b", "k", blob)).getCode());
  }
}
