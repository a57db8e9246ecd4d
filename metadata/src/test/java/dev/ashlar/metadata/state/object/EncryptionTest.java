package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.object.VersionCommands.BUCKET;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.layout.EncryptedRuns;
import dev.ashlar.protocol.layout.FrameLayout;
import dev.ashlar.protocol.message.BeginEncryption;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CompletePart;
import dev.ashlar.protocol.message.CompleteUpload;
import dev.ashlar.protocol.message.CopyObject;
import dev.ashlar.protocol.message.CopyPart;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.MoveObject;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.NodeHeartbeat;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectPiece;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.PutPart;
import dev.ashlar.protocol.message.Quota;
import dev.ashlar.protocol.message.RegisterNode;
import dev.ashlar.protocol.message.RenameObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetBucketQuota;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.NodeLiveness;
import dev.ashlar.protocol.model.Profile;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Encrypted objects: what is stored of them is longer than they are. */
class EncryptionTest {
  private static final long SIZE = 100_000;
  private static final long STORED = FrameLayout.storedSize(SIZE);
  private static final long LARGE = Uploads.PART_MIN_BYTES + 7;
  private static final ByteString KEY = ByteString.copyFromUtf8("wrapped");
  private static final ByteString OTHER_KEY = ByteString.copyFromUtf8("wrapped again");

  private static final Command BEGIN =
      Command.newBuilder().setBeginEncryption(BeginEncryption.getDefaultInstance()).build();

  private final VersionCommands it = VersionCommands.withBucket();
  private long sequence = 1 << 20;

  private static EncryptedRun run(int number, long size) {
    return EncryptedRun.newBuilder()
        .setId(ByteString.copyFrom(new byte[EncryptedRuns.ID_BYTES - 1]).concat(id(number)))
        .setSize(size)
        .build();
  }

  private static ByteString id(int number) {
    return ByteString.copyFrom(new byte[] {(byte) number});
  }

  private static ObjectFacts facts(EncryptedRun... runs) {
    return ObjectFacts.newBuilder().setWrappedKey(KEY).addAllRuns(List.of(runs)).build();
  }

  private NewBlob.Builder blob(long length) {
    MemoryMetadata metadata = it.metadata();
    return TestBlobs.acknowledged(metadata, new BlobId(metadata.session(), sequence++), length);
  }

  private PutObject.Builder encrypted(String key, long size) {
    return it.object(key, FrameLayout.storedSize(size))
        .setSummary(ObjectSummary.newBuilder().setSize(size).setEtag("e"))
        .setFacts(facts(run(1, size)));
  }

  private ResultCode code(PutObject.Builder object) throws Exception {
    return it.submit(Command.newBuilder().setPutObject(object)).getCode();
  }

  private ObjectRecord object(String key) throws Exception {
    return it.metadata().object(BUCKET, key).orElseThrow().object();
  }

  private long slicesLength(String key) throws Exception {
    return object(key).getSlicesList().stream().mapToLong(slice -> slice.getLength()).sum();
  }

  @Test
  void anEncryptedObjectHasThePlainSizeAndStoresItsFrames() throws Exception {
    it.put(encrypted("k", SIZE));
    ObjectRecord object = object("k");
    assertEquals(SIZE, object.getSummary().getSize());
    assertEquals(STORED, slicesLength("k"));
    assertEquals(STORED, EncryptedRuns.storedSize(object));
    assertEquals(facts(run(1, SIZE)), object.getFacts());
    assertEquals(SIZE, it.metadata().bucketUsage(BUCKET).orElseThrow().getBytes());
  }

  @Test
  void aWrappedKeyIsReplacedOnlyIfItIsTheKnownOne() throws Exception {
    it.put(encrypted("k", SIZE));
    assertEquals(
        ResultCode.CONDITIONAL_CONFLICT,
        it.set(it.facts("k", null).setWrappedKey(OTHER_KEY).setExpectedWrappedKey(OTHER_KEY)));
    assertEquals(KEY, object("k").getFacts().getWrappedKey());
    assertEquals(
        ResultCode.OK,
        it.set(it.facts("k", null).setWrappedKey(OTHER_KEY).setExpectedWrappedKey(KEY)));
    assertEquals(OTHER_KEY, object("k").getFacts().getWrappedKey());
    assertEquals(ResultCode.OK, it.set(it.facts("k", null).setWrappedKey(KEY)));
  }

  @Test
  void anEmptyObjectHasOneRun() throws Exception {
    it.put(encrypted("k", 0).clearBlobs());
    assertTrue(EncryptedRuns.isEncrypted(object("k")));
    assertEquals(0, slicesLength("k"));
  }

  @Test
  void factsThatContradictThemselvesOrTheSizeAreRefused() throws Exception {
    EncryptedRun run = run(1, SIZE);
    for (ObjectFacts facts :
        List.of(
            ObjectFacts.newBuilder().addRuns(run).build(),
            ObjectFacts.newBuilder().setWrappedKey(KEY).build(),
            facts(run.toBuilder().setId(id(1)).build()),
            facts(run(1, SIZE - 1)),
            facts(run(1, SIZE), run(2, SIZE)),
            facts(run(1, SIZE + 1), run(2, -1)),
            facts(run(1, Long.MAX_VALUE), run(2, Long.MAX_VALUE), run(3, SIZE + 2)))) {
      assertEquals(
          ResultCode.INVALID_COMMAND, code(encrypted("k", SIZE).setFacts(facts)), facts::toString);
    }
    assertEquals(
        ResultCode.INVALID_COMMAND,
        code(it.object("k", SIZE).setFacts(facts(run(1, SIZE)))),
        "its blobs are as long as the plain bytes");
    assertEquals(
        ResultCode.INVALID_COMMAND,
        code(encrypted("k", SIZE).setFacts(facts(run(1, SIZE - 10), run(2, 10)))),
        "a frame more");
  }

  @Test
  void copiesShareTheRunsAndHaveAKeyOfTheirOwn() throws Exception {
    it.put(encrypted("k", SIZE));
    it.put(it.object("plain", SIZE));
    CopyObject.Builder copy =
        CopyObject.newBuilder()
            .setSourceBucket(BUCKET)
            .setSourceKey("k")
            .setSourceVersion(object("k").getVersion())
            .setBucket(BUCKET)
            .setKey("copy");
    ObjectFacts rewrapped = facts(run(1, SIZE)).toBuilder().setWrappedKey(OTHER_KEY).build();
    for (ObjectFacts wrong :
        List.of(
            ObjectFacts.getDefaultInstance(),
            rewrapped.toBuilder().clearRuns().build(),
            rewrapped.toBuilder().clearWrappedKey().build(),
            facts(run(2, SIZE)))) {
      assertEquals(
          ResultCode.INVALID_COMMAND,
          it.submit(Command.newBuilder().setCopyObject(copy.clone().setFacts(wrong))).getCode());
    }
    it.accepted(Command.newBuilder().setCopyObject(copy.setFacts(rewrapped)));
    assertEquals(rewrapped, object("copy").getFacts());
    assertEquals(object("k").getSlicesList(), object("copy").getSlicesList());
    assertEquals(SIZE, object("copy").getSummary().getSize());
    CopyObject.Builder ofPlain = copy.clone().setSourceKey("plain").clearSourceVersion();
    assertEquals(
        ResultCode.INVALID_COMMAND,
        it.submit(Command.newBuilder().setCopyObject(ofPlain)).getCode());
  }

  @Test
  void renamesTagsAndMovesKeepTheRuns() throws Exception {
    MemoryMetadata metadata = it.metadata();
    it.put(encrypted("from", SIZE));
    it.accepted(
        Command.newBuilder()
            .setRenameObject(
                RenameObject.newBuilder().setBucket(BUCKET).setSourceKey("from").setKey("k")));
    ObjectFacts tags = VersionCommands.tags("v");
    assertEquals(ResultCode.OK, it.set(it.facts("k", null).setTags(tags)));
    assertEquals(
        facts(run(1, SIZE)).toBuilder().addAllTags(tags.getTagsList()).build(),
        object("k").getFacts());
    metadata.require(TestProfiles.add(metadata, "HOT", new Profile(1, 2, 4096), 3));
    NewBlob.Builder tail =
        TestBlobs.acknowledged(metadata, BlobId.of(metadata.session(), 1, sequence++), 50);
    MoveObject.Builder move =
        MoveObject.newBuilder()
            .setBucket(BUCKET)
            .setKey("k")
            .setVersion(object("k").getVersion())
            .addBlobs(tail);
    assertEquals(
        ResultCode.INVALID_COMMAND,
        it.submit(Command.newBuilder().setMoveObject(move.clone().setOffset(STORED - 49)))
            .getCode());
    it.accepted(Command.newBuilder().setMoveObject(move.setOffset(STORED - 50)));
    assertEquals(STORED, slicesLength("k"));
    assertTrue(EncryptedRuns.isEncrypted(object("k")));
  }

  @Test
  void onlyKeysOfEncryptedVersionsAreWrappedAgain() throws Exception {
    it.put(encrypted("k", SIZE));
    it.put(it.object("plain", SIZE));
    assertEquals(ResultCode.OK, it.set(it.facts("k", null).setWrappedKey(OTHER_KEY)));
    assertEquals(OTHER_KEY, object("k").getFacts().getWrappedKey());
    assertEquals(List.of(run(1, SIZE)), object("k").getFacts().getRunsList());
    assertEquals(
        ResultCode.INVALID_COMMAND, it.set(it.facts("k", null).setWrappedKey(ByteString.EMPTY)));
    assertEquals(ResultCode.INVALID_COMMAND, it.set(it.facts("plain", null).setWrappedKey(KEY)));
  }

  // ---- Uploads

  private void begin(String key, ByteString wrappedKey) throws Exception {
    UploadRow.Builder upload = UploadRow.newBuilder().setBucket(BUCKET).setKey(key);
    upload.setUploadId("u").setFacts(ObjectFacts.newBuilder().setWrappedKey(wrappedKey));
    it.accepted(Command.newBuilder().setCreateUpload(CreateUpload.newBuilder().setUpload(upload)));
  }

  private CommandResult part(String key, PartRow part, long stored) throws Exception {
    PutPart.Builder put = PutPart.newBuilder().setBucket(BUCKET).setKey(key).setUploadId("u");
    return it.submit(Command.newBuilder().setPutPart(put.setPart(part).addBlobs(blob(stored))));
  }

  private static PartRow encryptedPart(int number, long size) {
    return PartRow.newBuilder().setNumber(number).setSize(size).setRun(run(number, size)).build();
  }

  @Test
  void completingAnUploadPutsTheRunsOfItsPartsInOrder() throws Exception {
    begin("k", KEY);
    CompleteUpload.Builder complete = CompleteUpload.newBuilder().setBucket(BUCKET).setKey("k");
    complete.setUploadId("u");
    for (int number : List.of(3, 1)) {
      CommandResult put = part("k", encryptedPart(number, LARGE), FrameLayout.storedSize(LARGE));
      assertEquals(ResultCode.OK, put.getCode());
      complete.addParts(0, CompletePart.newBuilder().setNumber(number).setToken(put.getVersion()));
    }
    it.accepted(Command.newBuilder().setCompleteUpload(complete));
    ObjectRecord object = object("k");
    assertEquals(facts(run(1, LARGE), run(3, LARGE)), object.getFacts());
    assertEquals(2 * LARGE, object.getSummary().getSize());
    assertEquals(2 * FrameLayout.storedSize(LARGE), slicesLength("k"));
  }

  @Test
  void partsAreEncryptedIfAndOnlyIfTheirUploadIs() throws Exception {
    begin("k", KEY);
    begin("plain", ByteString.EMPTY);
    PartRow plain = PartRow.newBuilder().setNumber(1).setSize(SIZE).build();
    PartRow encrypted = encryptedPart(1, SIZE);
    assertEquals(ResultCode.INVALID_COMMAND, part("k", plain, SIZE).getCode());
    assertEquals(ResultCode.INVALID_COMMAND, part("k", encrypted, SIZE).getCode());
    assertEquals(
        ResultCode.INVALID_COMMAND,
        part("k", encrypted.toBuilder().setSize(SIZE + 1).build(), STORED).getCode());
    assertEquals(ResultCode.INVALID_COMMAND, part("plain", encrypted, STORED).getCode());
    UploadRow.Builder withRuns = UploadRow.newBuilder().setBucket(BUCKET).setKey("other");
    withRuns.setUploadId("u").setFacts(facts(run(1, 1)));
    assertEquals(
        ResultCode.INVALID_COMMAND,
        it.submit(
                Command.newBuilder().setCreateUpload(CreateUpload.newBuilder().setUpload(withRuns)))
            .getCode());
  }

  @Test
  void noPartIsACopyWhereEitherSideIsEncrypted() throws Exception {
    it.put(encrypted("source", SIZE));
    it.put(it.object("plain source", SIZE));
    begin("k", KEY);
    begin("plain", ByteString.EMPTY);
    assertEquals(ResultCode.INVALID_COMMAND, copyPart("plain source", "k"));
    assertEquals(ResultCode.INVALID_COMMAND, copyPart("source", "k"));
    assertEquals(ResultCode.INVALID_COMMAND, copyPart("source", "plain"));
    assertEquals(ResultCode.OK, copyPart("plain source", "plain"));
  }

  private ResultCode copyPart(String source, String key) throws Exception {
    CopyPart.Builder copy =
        CopyPart.newBuilder()
            .setBucket(BUCKET)
            .setKey(key)
            .setUploadId("u")
            .setPart(PartRow.newBuilder().setNumber(1))
            .setSourceBucket(BUCKET)
            .setSourceKey(source)
            .setSourceLength(10);
    return it.submit(Command.newBuilder().setCopyPart(copy)).getCode();
  }

  // ---- Changes

  private ModifyObject.Builder change(String key, long offset, long length, long plainSize)
      throws Exception {
    BlobRow row = it.metadata().object(BUCKET, key).orElseThrow().blobs().getLast();
    ObjectPiece piece =
        TestBlobs.piece(TestBlobs.change(it.metadata(), row, sequence++, offset, length));
    return TestBlobs.modify(BUCKET, key, offset, List.of(piece))
        .setExpectedVersion(object(key).getVersion())
        .setPlainSize(plainSize);
  }

  private ResultCode code(ModifyObject.Builder change) throws Exception {
    return it.submit(Command.newBuilder().setModifyObject(change)).getCode();
  }

  /** An append writes the last frame again, which becomes longer, and further ones. */
  @Test
  void anAppendMakesTheLastRunLonger() throws Exception {
    begin("k", KEY);
    CompleteUpload.Builder complete = CompleteUpload.newBuilder().setBucket(BUCKET).setKey("k");
    complete.setUploadId("u");
    for (int number = 1; number <= 2; number++) {
      long size = number == 1 ? LARGE : SIZE;
      CommandResult put = part("k", encryptedPart(number, size), FrameLayout.storedSize(size));
      complete.addParts(CompletePart.newBuilder().setNumber(number).setToken(put.getVersion()));
    }
    it.accepted(Command.newBuilder().setCompleteUpload(complete));
    assertEquals(ResultCode.OK, it.set(it.facts("k", null).setTags(VersionCommands.tags("v"))));
    long longer = SIZE + 70_000;
    long lastFrame = FrameLayout.FRAME_BYTES; // the second of the second run
    NewBlob.Builder written = blob(FrameLayout.storedSize(longer) - lastFrame);
    ModifyObject.Builder append =
        TestBlobs.modify(
                BUCKET,
                "k",
                FrameLayout.storedSize(LARGE) + lastFrame,
                List.of(TestBlobs.piece(written)))
            .setExpectedVersion(object("k").getVersion())
            .setPlainSize(LARGE + longer);
    CommandResult done = it.accepted(Command.newBuilder().setModifyObject(append));
    assertEquals(LARGE + longer, done.getSize());
    ObjectRecord object = object("k");
    assertEquals(LARGE + longer, object.getSummary().getSize());
    assertEquals(List.of(run(1, LARGE), run(2, longer)), object.getFacts().getRunsList());
    assertEquals(KEY, object.getFacts().getWrappedKey());
    assertEquals(1, object.getFacts().getTagsCount());
    assertEquals(EncryptedRuns.storedSize(object), slicesLength("k"));
    assertEquals(1, factsRows(), "those of the version before are gone");
    assertEquals(LARGE + longer, it.metadata().bucketUsage(BUCKET).orElseThrow().getBytes());
  }

  private long factsRows() {
    return it.table().rows().keySet().stream().filter(key -> key[0] == 'f').count();
  }

  @Test
  void aPatchInPlaceKeepsTheRuns() throws Exception {
    it.put(encrypted("k", SIZE));
    it.accepted(
        Command.newBuilder().setModifyObject(change("k", 0, FrameLayout.FRAME_BYTES, SIZE)));
    assertEquals(List.of(run(1, SIZE)), object("k").getFacts().getRunsList());
    assertEquals(SIZE, object("k").getSummary().getSize());
    assertEquals(STORED, slicesLength("k"));
  }

  @Test
  void changesThatDoNotFitTheObjectAreRefused() throws Exception {
    it.put(encrypted("k", SIZE));
    it.put(it.object("plain", SIZE));
    long version = object("k").getVersion();
    ModifyObject.Builder patch = change("k", 0, 100, SIZE);
    assertEquals(ResultCode.INVALID_COMMAND, code(patch.clone().clearExpectedVersion()));
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, code(patch.clone().clearPlainSize()));
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, code(change("plain", 0, 100, SIZE)));
    for (long wrong : List.of(SIZE - 1, SIZE + 1, -1L, Long.MIN_VALUE, Long.MAX_VALUE)) {
      assertEquals(ResultCode.INVALID_COMMAND, code(patch.clone().setPlainSize(wrong)), "" + wrong);
    }
    assertEquals(
        ResultCode.INVALID_COMMAND,
        code(change("k", STORED, 10, SIZE)),
        "stored bytes that are in no frame");
    ModifyObject.Builder behind =
        TestBlobs.modify(BUCKET, "k", STORED + 1, List.of(TestBlobs.piece(blob(10))));
    assertEquals(
        ResultCode.INVALID_OFFSET,
        code(behind.setExpectedVersion(version).setPlainSize(SIZE + 11)));
    it.put(encrypted("k", SIZE));
    assertEquals(
        ResultCode.CONDITIONAL_CONFLICT,
        code(change("k", 0, 100, SIZE).setExpectedVersion(version)),
        "of another version");
  }

  @Test
  void quotasCountPlainBytes() throws Exception {
    Quota.Builder quota = Quota.newBuilder().setBytesMax(SIZE + 10);
    it.accepted(
        Command.newBuilder()
            .setSetBucketQuota(SetBucketQuota.newBuilder().setBucket(BUCKET).setQuota(quota)));
    it.put(encrypted("k", SIZE));
    assertEquals(ResultCode.OK, code(change("k", STORED - 5, 15, SIZE + 10)));
    assertEquals(
        ResultCode.QUOTA_EXCEEDED, code(change("k", STORED + 5, 6, SIZE + 11)), "one byte more");
  }

  // ---- Older builds

  @Test
  void nothingIsEncryptedWhileAnOlderVersionIsInUse() throws Exception {
    MemoryMetadata older = MemoryMetadata.withDrives(8, new Profile(2, 1, 16384), 3, 2);
    older.require(TestBlobs.createBucket(BUCKET));
    BlobId id = new BlobId(older.session(), 1);
    Command.Builder put =
        Command.newBuilder()
            .setPutObject(
                PutObject.newBuilder()
                    .setBucket(BUCKET)
                    .setKey("k")
                    .setSummary(ObjectSummary.newBuilder().setSize(SIZE))
                    .setFacts(facts(run(1, SIZE)))
                    .addBlobs(TestBlobs.acknowledged(older, id, STORED)));
    assertEquals(ResultCode.INVALID_COMMAND, older.submit(put).getCode());
    assertEquals(ResultCode.INVALID_COMMAND, older.submit(BEGIN.toBuilder()).getCode());
    older.raiseVersion();
    older.require(BEGIN.toBuilder());
    assertTrue(older.table().rows().containsKey(Keys.encryption()));
    older.require(put);
  }

  /** It was created while an older version was in use, which took its key for any other field. */
  @Test
  void anUploadOfAnOlderVersionIsCompletedOnlyWhenAllGatewaysKnowEncryption() throws Exception {
    MemoryMetadata older = MemoryMetadata.withDrives(8, new Profile(2, 1, 16384), 3, 2);
    older.require(TestBlobs.createBucket(BUCKET));
    UploadRow.Builder upload =
        UploadRow.newBuilder()
            .setBucket(BUCKET)
            .setKey("k")
            .setUploadId("u")
            .setFacts(ObjectFacts.newBuilder().setWrappedKey(KEY));
    older.require(
        Command.newBuilder().setCreateUpload(CreateUpload.newBuilder().setUpload(upload)));
    older.raiseVersion();
    older.require(
        Command.newBuilder()
            .setPutPart(
                PutPart.newBuilder()
                    .setBucket(BUCKET)
                    .setKey("k")
                    .setUploadId("u")
                    .setPart(PartRow.newBuilder().setNumber(1).setSize(SIZE).setRun(run(1, SIZE)))
                    .addBlobs(
                        TestBlobs.acknowledged(older, new BlobId(older.session(), 1), STORED))));
    long token = older.parts(BUCKET, "k", "u", 0, 1).getFirst().getToken();
    Command.Builder complete =
        Command.newBuilder()
            .setCompleteUpload(
                CompleteUpload.newBuilder()
                    .setBucket(BUCKET)
                    .setKey("k")
                    .setUploadId("u")
                    .addParts(CompletePart.newBuilder().setNumber(1).setToken(token)));
    NodeRow.Builder gateway = NodeRow.newBuilder().setName("g").setHost("h").setGateway(true);
    older.anotherClient().require(register(gateway));
    assertEquals(ResultCode.OLDER_GATEWAYS, older.submit(complete).getCode());
    older.anotherClient().require(register(gateway.setKnowsEncryption(true)));
    older.require(complete);
    assertTrue(older.table().rows().containsKey(Keys.encryption()));
  }

  private static Command.Builder register(NodeRow.Builder node) {
    return Command.newBuilder().setRegisterNode(RegisterNode.newBuilder().setNode(node));
  }

  /** It would serve what is stored. */
  @Test
  void nothingIsEncryptedWhileALiveGatewayIsOfAnOlderBuild() throws Exception {
    ManualClock clock = new ManualClock(1_000_000);
    MemoryMetadata cluster = new MemoryMetadata(clock);
    cluster.require(
        Command.newBuilder()
            .setPutDrives(
                MemoryMetadata.drives(
                    new Profile(2, 1, 16384), MemoryMetadata.sequentialIds(3), 2)));
    cluster.require(TestBlobs.createBucket(BUCKET));
    MemoryMetadata old = cluster.anotherClient();
    NodeRow.Builder gateway = NodeRow.newBuilder().setHost("h").setGateway(true);
    Command.Builder registration = register(gateway.clone().setName("old"));
    cluster.require(register(gateway.clone().setName("new").setKnowsEncryption(true)));
    old.require(registration);
    List<Command.Builder> writes = new ArrayList<>();
    writes.add(BEGIN.toBuilder());
    UploadRow.Builder upload =
        UploadRow.newBuilder()
            .setBucket(BUCKET)
            .setKey("k")
            .setUploadId("u")
            .setFacts(ObjectFacts.newBuilder().setWrappedKey(KEY));
    writes.add(Command.newBuilder().setCreateUpload(CreateUpload.newBuilder().setUpload(upload)));
    writes.add(
        Command.newBuilder()
            .setPutObject(
                PutObject.newBuilder().setBucket(BUCKET).setKey("k").setFacts(facts(run(1, 0)))));
    for (Command.Builder write : writes) {
      assertEquals(ResultCode.OLDER_GATEWAYS, cluster.submit(write).getCode());
    }
    assertFalse(cluster.table().rows().containsKey(Keys.encryption()));
    for (long ms = 0; ms <= NodeLiveness.DOWN_MS; ms += NodeLiveness.HEARTBEAT_MS) {
      clock.advanceMs(NodeLiveness.HEARTBEAT_MS);
      cluster.require(
          Command.newBuilder().setNodeHeartbeat(NodeHeartbeat.newBuilder().setName("new")));
    }
    for (Command.Builder write : writes) {
      cluster.require(write);
    }
    assertEquals(
        ResultCode.STALE_REQUEST,
        old.submit(Command.newBuilder().setNodeHeartbeat(NodeHeartbeat.newBuilder().setName("old")))
            .getCode(),
        "it lived on behind a broken network");
    assertEquals(
        ResultCode.INVALID_COMMAND, cluster.anotherClient().submit(registration).getCode());
    MemoryMetadata restarted = new MemoryMetadata(cluster.table(), clock);
    assertEquals(
        ResultCode.INVALID_COMMAND, restarted.submit(registration).getCode(), "read from the row");
    restarted.require(register(gateway.setName("old").setKnowsEncryption(true)));
  }
}
