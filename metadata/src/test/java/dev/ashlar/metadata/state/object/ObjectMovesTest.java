package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.object.VersionCommands.BUCKET;
import static dev.ashlar.metadata.state.object.VersionCommands.NULL;
import static dev.ashlar.metadata.state.object.VersionCommands.ref;
import static dev.ashlar.metadata.state.object.VersionCommands.tags;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.VersionRead;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CompletePart;
import dev.ashlar.protocol.message.CompleteUpload;
import dev.ashlar.protocol.message.CopyObject;
import dev.ashlar.protocol.message.CopyPart;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.MoveObject;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.PutBucketDocument;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.message.Versioning;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Versions get blobs of another profile, and stay what they are. */
class ObjectMovesTest {
  private static final int HOT = 1;

  private VersionCommands it = withHot(VersionCommands.withBucket());
  private long sequence = 1 << 20;

  private static VersionCommands withHot(VersionCommands commands) {
    commands
        .metadata()
        .require(TestProfiles.add(commands.metadata(), "HOT", new Profile(1, 2, 4096), 3));
    return commands;
  }

  private ObjectRead read(String key, @Nullable VersionRef version) throws Exception {
    return ((VersionRead.Content) it.metadata().version(BUCKET, key, version)).read();
  }

  private ObjectRecord record(String key) throws Exception {
    return read(key, null).object();
  }

  private NewBlob.Builder blob(int profile, long length) {
    MemoryMetadata metadata = it.metadata();
    BlobId id = BlobId.of(metadata.session(), profile, sequence++);
    return TestBlobs.acknowledged(metadata, id, length);
  }

  /** Moves all bytes of what was read. */
  private MoveObject.Builder move(String key, ObjectRecord object) {
    long size = object.getSummary().getSize();
    return move(key, object, size == 0 ? List.of() : List.of(blob(HOT, size)));
  }

  private static MoveObject.Builder move(
      String key, ObjectRecord object, List<NewBlob.Builder> blobs) {
    MoveObject.Builder move =
        MoveObject.newBuilder()
            .setBucket(BUCKET)
            .setKey(key)
            .setVersion(object.getVersion())
            .setMoved(object.getMoved())
            .setStorageClass("HOT");
    blobs.forEach(move::addBlobs);
    return move;
  }

  private CommandResult submit(MoveObject.Builder move) throws Exception {
    return it.submit(Command.newBuilder().setMoveObject(move));
  }

  private void assertCode(ResultCode code, MoveObject.Builder move) throws Exception {
    assertEquals(code, submit(move).getCode());
  }

  /** What a move may change. */
  private static ObjectRecord unmoved(ObjectRecord object) {
    ObjectRecord.Builder rest = object.toBuilder().clearSlices().clearMoved();
    rest.getSummaryBuilder().clearStorageClass();
    return rest.build();
  }

  private static List<Integer> profiles(ObjectRecord object) {
    return object.getSlicesList().stream()
        .map(slice -> BlobId.of(slice.getBlob()).profile())
        .distinct()
        .toList();
  }

  /** As many references as slices refer, nothing else is there but garbage. */
  private void assertReferences(List<ObjectRecord> objects) throws Exception {
    long[] wanted = new long[1];
    Set<BlobId> blobs = new HashSet<>();
    for (ObjectRecord object : objects) {
      wanted[0] += object.getSlicesCount();
      object.getSlicesList().forEach(slice -> blobs.add(BlobId.of(slice.getBlob())));
    }
    long references =
        it.metadata().blobs(List.copyOf(blobs)).stream().mapToLong(BlobRow::getReferences).sum();
    assertEquals(wanted[0], references);
  }

  private List<BlobRow> garbage() throws Exception {
    return it.metadata().garbage(Long.MAX_VALUE, null, 100);
  }

  @Test
  void aMovedVersionIsTheSameWithOtherSlices() throws Exception {
    PutObject.Builder object = it.object("k", 9000).setFacts(tags("x"));
    object.getAttributesBuilder().putUserMetadata("n", "v".repeat(300));
    it.put(object);
    ObjectRecord before = record("k");
    CommandResult result = submit(move("k", before));
    assertEquals(ResultCode.OK, result.getCode());
    ObjectRecord after = record("k");
    assertEquals(unmoved(before), unmoved(after));
    assertEquals(result.getVersion(), after.getMoved());
    assertEquals("HOT", after.getSummary().getStorageClass());
    assertEquals(List.of(HOT), profiles(after));
    assertEquals(
        List.of(before.getSlices(0).getBlob()), garbage().stream().map(BlobRow::getId).toList());
    assertReferences(List.of(after));
    assertEquals("HOT", it.page("", null, 10).entries().getFirst().getSummary().getStorageClass());
    it.restart();
    assertEquals(after, record("k"));
    it.delete("k");
    assertEquals(0, it.rows());
    assertEquals(2, garbage().size());
  }

  @Test
  void anEmptyObjectOnlyGetsTheClass() throws Exception {
    it.put(it.object("k", 0));
    ObjectRecord before = record("k");
    assertCode(ResultCode.OK, move("k", before));
    assertEquals("HOT", record("k").getSummary().getStorageClass());
    assertEquals(unmoved(before), unmoved(record("k")));
    assertCode(ResultCode.CONDITIONAL_CONFLICT, move("k", before));
    assertEquals(1, it.rows());
  }

  @Test
  void theClassStaysUnlessOneIsNamed() throws Exception {
    it.put("k", 10);
    assertCode(ResultCode.OK, move("k", record("k")).clearStorageClass());
    assertEquals("", record("k").getSummary().getStorageClass());
    assertEquals(List.of(HOT), profiles(record("k")));
    assertCode(ResultCode.NO_SUCH_CLASS, move("k", record("k")).setStorageClass("COLD"));
  }

  @Test
  void rangesAreMovedOneByOne() throws Exception {
    it.put("k", 100);
    BlobId first = BlobId.of(record("k").getSlices(0).getBlob());
    MoveObject.Builder range = move("k", record("k")).clearBlobs().clearStorageClass();
    assertCode(ResultCode.OK, range.setOffset(20).addBlobs(blob(HOT, 30)));
    ObjectRecord object = record("k");
    assertEquals(
        List.of(20L, 30L, 50L),
        object.getSlicesList().stream().map(SliceValue::getLength).toList());
    assertEquals(50, object.getSlices(2).getOffset());
    assertEquals(2, it.metadata().blobs(List.of(first)).getFirst().getReferences());
    MoveObject.Builder rest = move("k", object).clearBlobs();
    assertCode(ResultCode.INVALID_COMMAND, rest.clone().setOffset(90).addBlobs(blob(HOT, 11)));
    assertCode(ResultCode.INVALID_COMMAND, rest.clone().setOffset(-1).addBlobs(blob(HOT, 11)));
    assertCode(ResultCode.OK, rest.setOffset(50).addBlobs(blob(HOT, 50)));
    assertCode(ResultCode.OK, move("k", record("k")).clearBlobs().addBlobs(blob(HOT, 20)));
    assertEquals(List.of(HOT), profiles(record("k")));
    assertReferences(List.of(record("k")));
    assertEquals(1, garbage().size());
  }

  @Test
  void olderVersionsAreMovedWhereTheyAre() throws Exception {
    it.put("k", 1);
    it.versioning(Versioning.VERSIONING_ENABLED);
    long second = it.put(it.object("k", 2).setFacts(tags("x"))).getVersion();
    long third = it.put("k", 3);
    List<ObjectRecord> before =
        List.of(
            read("k", NULL).object(),
            read("k", ref(second)).object(),
            read("k", ref(third)).object());
    for (ObjectRecord version : before) {
      assertCode(ResultCode.OK, move("k", version));
    }
    List<ObjectRecord> after =
        List.of(
            read("k", NULL).object(),
            read("k", ref(second)).object(),
            read("k", ref(third)).object());
    for (int i = 0; i < 3; i++) {
      assertEquals(unmoved(before.get(i)), unmoved(after.get(i)));
      assertEquals(List.of(HOT), profiles(after.get(i)));
      assertEquals(after.get(i).getMoved(), after.get(0).getMoved() + i * 256L);
    }
    assertEquals(3, garbage().size());
    assertEquals(third, record("k").getVersion());
    it.delete("k", ref(third));
    assertEquals(after.get(1), record("k"), "promoted");
    it.put("k", 4);
    assertEquals(after.get(1), read("k", ref(second)).object(), "aged");
    assertReferences(List.of(after.get(0), after.get(1), record("k")));
  }

  @Test
  void deleteMarkersAndWhatIsGoneAreNotMoved() throws Exception {
    it.versioning(Versioning.VERSIONING_ENABLED);
    it.put("k", 1);
    ObjectRecord object = record("k");
    long marker = it.delete("k").getVersion();
    assertCode(
        ResultCode.NO_SUCH_VERSION, move("k", object.toBuilder().setVersion(marker).build()));
    assertCode(ResultCode.OK, move("k", object));
    it.delete("k", ref(object.getVersion()));
    assertCode(ResultCode.NO_SUCH_VERSION, move("k", object));
    assertCode(ResultCode.NO_SUCH_BUCKET, move("k", object).setBucket("other"));
  }

  @Test
  void whoeverIsFirstWins() throws Exception {
    it.put("k", 100);
    ObjectRecord seen = record("k");
    assertCode(ResultCode.OK, move("k", seen));
    assertCode(ResultCode.CONDITIONAL_CONFLICT, move("k", seen));
    seen = record("k");
    it.put("k", 100);
    assertCode(ResultCode.NO_SUCH_VERSION, move("k", seen));
    seen = record("k");
    append(100, 5);
    assertCode(ResultCode.NO_SUCH_VERSION, move("k", seen));
    seen = record("k");
    append(10, 5);
    assertCode(ResultCode.NO_SUCH_VERSION, move("k", seen));
    seen = record("k");
    it.delete("k");
    assertCode(ResultCode.NO_SUCH_VERSION, move("k", seen));
    assertEquals(0, it.rows());
  }

  private ModifyObject.Builder change(long offset, long length) throws Exception {
    BlobRow row = read("k", null).blobs().getFirst();
    return TestBlobs.modify(
        BUCKET,
        "k",
        offset,
        List.of(TestBlobs.piece(TestBlobs.change(it.metadata(), row, sequence++, offset, length))));
  }

  private void append(long offset, long length) throws Exception {
    it.accepted(Command.newBuilder().setModifyObject(change(offset, length)));
  }

  @Test
  void aChangeOfTheBlobsBeforeIsAConflict() throws Exception {
    it.put("k", 100);
    ModifyObject.Builder inPlace = change(10, 5);
    ModifyObject.Builder atEnd = change(100, 5);
    ModifyObject.Builder beside =
        TestBlobs.modify(BUCKET, "k", 10, List.of(TestBlobs.piece(blob(0, 5))))
            .setExpectedVersion(record("k").getVersion());
    assertCode(ResultCode.OK, move("k", record("k")));
    for (ModifyObject.Builder lost : List.of(inPlace, atEnd)) {
      assertEquals(
          ResultCode.CONDITIONAL_CONFLICT,
          it.submit(Command.newBuilder().setModifyObject(lost)).getCode());
    }
    long moved = record("k").getMoved();
    it.accepted(Command.newBuilder().setModifyObject(beside)); // the bytes are those that it saw
    ObjectRecord changed = record("k");
    assertEquals(0, changed.getMoved());
    assertNotEquals(moved, changed.getVersion());
    assertEquals(List.of(HOT, 0), profiles(changed));
    assertReferences(List.of(changed));
  }

  @Test
  void aCopySharesTheBlobsThatItsSenderSaw() throws Exception {
    it.put("k", 100);
    ObjectRecord seen = record("k");
    CopyObject.Builder copy =
        CopyObject.newBuilder()
            .setSourceBucket(BUCKET)
            .setSourceKey("k")
            .setSourceVersion(seen.getVersion())
            .setBucket(BUCKET)
            .setKey("copy");
    it.accepted(Command.newBuilder().setCopyObject(copy));
    assertCode(ResultCode.OK, move("k", seen));
    BlobRow shared =
        it.metadata().blobs(List.of(BlobId.of(seen.getSlices(0).getBlob()))).getFirst();
    assertEquals(1, shared.getReferences(), "that of the copy");
    assertEquals(seen.getSlicesList(), record("copy").getSlicesList());
    assertEquals(
        ResultCode.CONDITIONAL_CONFLICT,
        it.submit(Command.newBuilder().setCopyObject(copy)).getCode());
    it.accepted(Command.newBuilder().setCopyObject(copy.setSourceMoved(record("k").getMoved())));
    assertEquals(record("k").getSlicesList(), record("copy").getSlicesList());
    assertEquals(0, record("copy").getMoved());
    assertReferences(List.of(record("k"), record("copy")));
  }

  /** Each part is a copy of the same object. */
  private void upload(String id, int parts, long size) throws Exception {
    UploadRow upload = UploadRow.newBuilder().setBucket(BUCKET).setKey("k").setUploadId(id).build();
    it.accepted(Command.newBuilder().setCreateUpload(CreateUpload.newBuilder().setUpload(upload)));
    CompleteUpload.Builder complete =
        CompleteUpload.newBuilder().setBucket(BUCKET).setKey("k").setUploadId(id).setEtag("e-2");
    for (int number = 1; number <= parts; number++) {
      CopyPart.Builder part =
          CopyPart.newBuilder()
              .setBucket(BUCKET)
              .setKey("k")
              .setUploadId(id)
              .setPart(PartRow.newBuilder().setNumber(number))
              .setSourceBucket(BUCKET)
              .setSourceKey("source")
              .setSourceLength(size);
      long token = it.accepted(Command.newBuilder().setCopyPart(part)).getVersion();
      complete.addParts(CompletePart.newBuilder().setNumber(number).setToken(token));
    }
    it.accepted(Command.newBuilder().setCompleteUpload(complete));
  }

  @Test
  void anObjectOfManyPartsKeepsThemAndItsUpload() throws Exception {
    long size = 5 << 20;
    it.put("source", size);
    upload("u", 2_500, size);
    ObjectRecord before = record("k");
    assertEquals(2_500, before.getSlicesCount());
    assertEquals(before, record("k"), "as it is remembered");
    int rows = it.rows();
    MoveObject.Builder part = move("k", before, List.of(blob(HOT, size)));
    assertCode(ResultCode.OK, part.setOffset(size).clearStorageClass());
    ObjectRecord partly = record("k");
    assertEquals(HOT, BlobId.of(partly.getSlices(1).getBlob()).profile(), "not as remembered");
    assertEquals(2_500, partly.getSlicesCount());
    List<NewBlob.Builder> blobs = new ArrayList<>();
    for (long left = before.getSummary().getSize(); left > 0; left -= 1 << 30) {
      blobs.add(blob(HOT, Math.min(left, 1 << 30)));
    }
    MoveObject.Builder all = move("k", partly, blobs);
    assertCode(ResultCode.OK, all);
    ObjectRecord after = record("k");
    assertEquals(unmoved(before), unmoved(after));
    assertEquals("u", after.getUploadId());
    assertEquals(2_500, after.getPartsCount());
    assertEquals(all.getBlobsCount(), after.getSlicesCount());
    assertEquals(rows, it.rows());
    assertEquals(after, record("k"));
    assertReferences(List.of(after, record("source")));
    it.delete("k");
    it.delete("source");
    assertEquals(0, it.rows());
  }

  @Test
  void locksQuotasAndEventsAreNotTouched() throws Exception {
    it = withHot(VersionCommands.withLocks());
    it.put(
        it.object("k", 100)
            .setLock(
                it.retention(ObjectLock.Mode.COMPLIANCE, Duration.ofDays(1)).toBuilder()
                    .setLegalHold(true)));
    it.accepted(
        Command.newBuilder()
            .setPutBucketDocument(
                PutBucketDocument.newBuilder()
                    .setBucket(BUCKET)
                    .setKind(2)
                    .setDocument(ByteString.copyFromUtf8("d"))
                    .setNotifiedEvents(-1)));
    ObjectRecord before = record("k");
    Object usage = it.metadata().bucketUsage(BUCKET);
    assertCode(ResultCode.OK, move("k", before));
    assertEquals(unmoved(before), unmoved(record("k")));
    assertTrue(record("k").getLock().getLegalHold());
    assertEquals(usage, it.metadata().bucketUsage(BUCKET));
    assertEquals(0, it.metadata().events(null, 10).events().size());
    it.pass(Duration.ofHours(1));
    assertEquals(ResultCode.OBJECT_LOCKED, it.delete("k", ref(before.getVersion())).getCode());
  }

  @Test
  void blobsMustBeDurableAndNew() throws Exception {
    it.put("k", 100);
    ObjectRecord object = record("k");
    MoveObject.Builder missing = move("k", object);
    missing.getBlobsBuilder(0).clearAcks();
    assertCode(ResultCode.NOT_DURABLE, missing);
    MoveObject.Builder good = move("k", object);
    assertCode(ResultCode.OK, good.clone());
    assertCode(ResultCode.INVALID_COMMAND, good.setMoved(record("k").getMoved()));
  }

  @Test
  void earlierVersionsOfMetadataRefuseIt() throws Exception {
    MemoryMetadata metadata =
        MemoryMetadata.withDrives(
            MetadataVersion.ADDS_PROFILES - 1, new Profile(2, 1, 16384), 3, 2);
    metadata.require(TestBlobs.createBucket(BUCKET));
    BlobId id = new BlobId(metadata.session(), 1);
    metadata.require(TestBlobs.put(BUCKET, "k", TestBlobs.acknowledged(metadata, id, 100)));
    ObjectRecord object = metadata.object(BUCKET, "k").orElseThrow().object();
    MoveObject.Builder move =
        MoveObject.newBuilder().setBucket(BUCKET).setKey("k").setVersion(object.getVersion());
    assertEquals(
        ResultCode.INVALID_COMMAND,
        metadata.submit(Command.newBuilder().setMoveObject(move)).getCode());
  }
}
