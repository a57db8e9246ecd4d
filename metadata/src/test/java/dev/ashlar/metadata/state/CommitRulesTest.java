package dev.ashlar.metadata.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CompletePart;
import dev.ashlar.protocol.message.CompleteUpload;
import dev.ashlar.protocol.message.CopyPart;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.PgMapRow;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.PutPart;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What apply accepts and what it makes of it. */
class CommitRulesTest {
  private final MemoryMetadata metadata = MemoryMetadata.withDrives(new Profile(4, 2, 16384), 8, 8);
  private long sequence;

  @BeforeEach
  void createBucket() throws Exception {
    metadata.submit(TestBlobs.createBucket("b"));
  }

  private NewBlob.Builder blob(long length) {
    return TestBlobs.acknowledged(metadata, new BlobId(metadata.session(), sequence++), length);
  }

  private CommandResult submit(Command.Builder command) throws Exception {
    return metadata.submit(command);
  }

  private ObjectRead read(String key) throws Exception {
    return metadata.object("b", key).orElseThrow();
  }

  /** Rule 6. */
  @Test
  void acknowledgementOfAnEarlierIncarnationIsADebt() throws Exception {
    NewBlob.Builder blob = blob(1 << 20);
    UUID wiped = metadata.placement().drive(blob.getPg(), 2);
    DriveRow.Builder row =
        DriveRow.newBuilder()
            .setDriveHigh(wiped.getMostSignificantBits())
            .setDriveLow(wiped.getLeastSignificantBits())
            .setIncarnation(2);
    submit(Command.newBuilder().setPutDrives(PutDrives.newBuilder().addDrives(row)));
    assertEquals(ResultCode.OK, submit(TestBlobs.put("b", "k", blob)).getCode());
    assertEquals(List.of(2), read("k").blobs().getFirst().getDebtSlotsList());
    row.setIncarnation(1);
    assertEquals(
        ResultCode.INVALID_COMMAND,
        submit(Command.newBuilder().setPutDrives(PutDrives.newBuilder().addDrives(row))).getCode());
  }

  /** A drive that has no slot of the group. */
  private UUID spare(int pg) {
    return metadata.drives().keySet().stream()
        .filter(drive -> !metadata.placement().slotDrives().get(pg).contains(drive))
        .sorted()
        .findFirst()
        .orElseThrow();
  }

  /** The writer has put the shard where its map said. */
  @Test
  void anAckOfADriveThatHadTheSlotCountsThere() throws Exception {
    NewBlob.Builder blob = blob(1 << 20);
    int pg = blob.getPg();
    UUID before = metadata.placement().drive(pg, 3);
    UUID after = spare(pg);
    PgMapRow.Builder moved = metadata.placement().toMessage().toBuilder().setEpoch(2);
    moved
        .getPgsBuilder(pg)
        .setSlots(
            3,
            DriveRow.newBuilder()
                .setDriveHigh(after.getMostSignificantBits())
                .setDriveLow(after.getLeastSignificantBits()));
    CommandResult installed =
        submit(Command.newBuilder().setPutDrives(PutDrives.newBuilder().setPgMap(moved)));
    assertEquals(ResultCode.OK, installed.getCode());
    assertEquals(ResultCode.OK, submit(TestBlobs.put("b", "k", blob)).getCode());
    BlobRow row = read("k").blobs().getFirst();
    assertEquals(List.of(), row.getDebtSlotsList());
    assertEquals(before, metadata.placement().location(row, 3));
    assertEquals(after, metadata.placement().drive(pg, 3));
  }

  /** Rule 6. */
  @Test
  void anAckOfADriveThatNeverHadTheSlotIsADebt() throws Exception {
    NewBlob.Builder blob = blob(1 << 20);
    UUID other = spare(blob.getPg());
    blob.setAcks(
        3,
        blob.getAcks(3).toBuilder()
            .setDriveHigh(other.getMostSignificantBits())
            .setDriveLow(other.getLeastSignificantBits()));
    assertEquals(ResultCode.OK, submit(TestBlobs.put("b", "k", blob)).getCode());
    assertEquals(List.of(3), read("k").blobs().getFirst().getDebtSlotsList());
  }

  @Test
  void slotsWithoutBytesNeedNoAck() throws Exception {
    NewBlob.Builder blob = blob(100);
    blob.removeAcks(3).removeAcks(2).removeAcks(1); // a one-strip blob has shards 0, 4 and 5
    assertEquals(ResultCode.OK, submit(TestBlobs.put("b", "k", blob)).getCode());
    assertEquals(List.of(), read("k").blobs().getFirst().getDebtSlotsList());
  }

  @Test
  void aBlobIdIsUsedOnce() throws Exception {
    NewBlob.Builder blob = blob(100);
    assertEquals(ResultCode.OK, submit(TestBlobs.put("b", "k", blob)).getCode());
    assertEquals(ResultCode.INVALID_COMMAND, submit(TestBlobs.put("b", "l", blob)).getCode());
    assertTrue(metadata.object("b", "l").isEmpty());
  }

  private void startUpload() throws Exception {
    UploadRow upload = UploadRow.newBuilder().setBucket("b").setKey("k").setUploadId("u").build();
    submit(Command.newBuilder().setCreateUpload(CreateUpload.newBuilder().setUpload(upload)));
  }

  /** Rule 13: slice lists in rows of bounded size, and slices capped. */
  @Test
  void tenThousandPartsBecomeOneObject() throws Exception {
    startUpload();
    CompleteUpload.Builder complete =
        CompleteUpload.newBuilder().setBucket("b").setKey("k").setUploadId("u").setEtag("e");
    for (int number = 1; number <= 10_000; number++) {
      PutPart.Builder part =
          PutPart.newBuilder()
              .setBucket("b")
              .setKey("k")
              .setUploadId("u")
              .setPart(PartRow.newBuilder().setNumber(number).setSize(10 << 20))
              .addBlobs(blob(6 << 20))
              .addBlobs(blob(4 << 20));
      long token = submit(Command.newBuilder().setPutPart(part)).getVersion();
      complete.addParts(CompletePart.newBuilder().setNumber(number).setToken(token));
    }
    CommandResult completed = submit(Command.newBuilder().setCompleteUpload(complete));
    assertEquals(ResultCode.OK, completed.getCode());
    ObjectRead read = read("k");
    assertEquals(20_000, read.object().getSlicesCount());
    assertSame(read.object(), read("k").object()); // not put together for every range
    assertEquals(10_000, read.object().getPartsCount());
    assertEquals(10_000L * (10 << 20), read.object().getSummary().getSize());
    int largest =
        metadata.table().rows().values().stream().mapToInt(row -> row.length).max().orElse(0);
    assertTrue(largest < 100_000, "a row of " + largest + " bytes");
    submit(TestBlobs.delete("b", "k"));
    assertEquals(20_000, metadata.garbage(Long.MAX_VALUE, null, 30_000).size());
  }

  @Test
  void slicesPerVersionAreCapped() throws Exception {
    PutObject.Builder many = PutObject.newBuilder().setBucket("b").setKey("source");
    for (int i = 0; i < 200; i++) {
      many.addBlobs(blob(1 << 20));
    }
    many.setSummary(ObjectSummary.newBuilder().setSize(200L << 20));
    submit(Command.newBuilder().setPutObject(many));
    startUpload();
    CompleteUpload.Builder complete =
        CompleteUpload.newBuilder().setBucket("b").setKey("k").setUploadId("u");
    for (int number = 1; number <= 501; number++) {
      CopyPart.Builder copy =
          CopyPart.newBuilder()
              .setBucket("b")
              .setKey("k")
              .setUploadId("u")
              .setPart(PartRow.newBuilder().setNumber(number))
              .setSourceBucket("b")
              .setSourceKey("source")
              .setSourceLength(200L << 20);
      long token = submit(Command.newBuilder().setCopyPart(copy)).getVersion();
      complete.addParts(CompletePart.newBuilder().setNumber(number).setToken(token));
    }
    assertEquals(
        ResultCode.LIMIT_EXCEEDED,
        submit(Command.newBuilder().setCompleteUpload(complete.clone())).getCode());
    complete.removeParts(500);
    assertEquals(ResultCode.OK, submit(Command.newBuilder().setCompleteUpload(complete)).getCode());
    assertEquals(
        501, metadata.blobs(List.of(new BlobId(metadata.session(), 0))).getFirst().getReferences());
  }
}
