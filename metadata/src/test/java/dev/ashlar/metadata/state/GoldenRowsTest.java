package dev.ashlar.metadata.state;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.ByteString;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.MemoryTable;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.client.TestIdentities;
import dev.ashlar.protocol.layout.FrameLayout;
import dev.ashlar.protocol.message.BeginMove;
import dev.ashlar.protocol.message.BlobChange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CreateBucket;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.DefaultRetention;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.MoveJobRow;
import dev.ashlar.protocol.message.MoveObject;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectAttributes;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.ObjectPiece;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.PutBucketDocument;
import dev.ashlar.protocol.message.PutCredential;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.PutPart;
import dev.ashlar.protocol.message.Quota;
import dev.ashlar.protocol.message.RecordDebts;
import dev.ashlar.protocol.message.RenameMark;
import dev.ashlar.protocol.message.RenameObject;
import dev.ashlar.protocol.message.RepairBlob;
import dev.ashlar.protocol.message.RepairedShard;
import dev.ashlar.protocol.message.SaveMove;
import dev.ashlar.protocol.message.SetBucketLock;
import dev.ashlar.protocol.message.SetBucketQuota;
import dev.ashlar.protocol.message.SetBucketVersioning;
import dev.ashlar.protocol.message.SetObjectFacts;
import dev.ashlar.protocol.message.Tag;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.message.Versioning;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One row of each kind, byte for byte as this program writes it, and as earlier ones wrote it: what
 * is on disk must stay readable. {@code golden/rows-v3.txt} and those of earlier versions have a
 * line per row, key and value in hexadecimal.
 */
class GoldenRowsTest {
  private static final int KINDS_OF_VERSION_3 = 18;
  private static final int KINDS_OF_VERSION_4 = 27;
  private static final int KINDS_OF_VERSION_8 = 28;
  private static final int KINDS_OF_VERSION_9 = 29;

  private final Clock clock = Clock.fixed(Instant.ofEpochMilli(1_800_000_000_000L), ZoneOffset.UTC);
  private final MemoryTable table = new MemoryTable();

  private MemoryMetadata write(int version) throws Exception {
    MemoryMetadata metadata = new MemoryMetadata(table, clock, version);
    metadata.submit(
        Command.newBuilder()
            .setPutDrives(
                MemoryMetadata.drives(
                    new Profile(2, 1, 16384), MemoryMetadata.sequentialIds(3), 2)));
    metadata.submit(
        Command.newBuilder()
            .setPutCredential(
                PutCredential.newBuilder()
                    .setCredential(
                        CredentialRow.newBuilder()
                            .setAccessKey("access")
                            .setSecretKey("secret")
                            .setOwner("me"))));
    metadata.submit(TestBlobs.createBucket("b"));
    metadata.submit(put(metadata, "small", 0));
    metadata.submit(put(metadata, "small", 1)); // the first becomes garbage
    Command.Builder detailed = put(metadata, "large \u0000 é", 2);
    detailed
        .getPutObjectBuilder()
        .setAttributes(ObjectAttributes.newBuilder().putUserMetadata("n", "v".repeat(300)))
        .addBlobs(blob(metadata, 3))
        .getSummaryBuilder()
        .setSize(200_000);
    metadata.submit(detailed);
    UploadRow upload = UploadRow.newBuilder().setBucket("b").setKey("k").setUploadId("u").build();
    metadata.submit(
        Command.newBuilder().setCreateUpload(CreateUpload.newBuilder().setUpload(upload)));
    metadata.submit(
        Command.newBuilder()
            .setPutPart(
                PutPart.newBuilder()
                    .setBucket("b")
                    .setKey("k")
                    .setUploadId("u")
                    .setPart(PartRow.newBuilder().setNumber(1).setSize(100_000).setEtag("e"))
                    .addBlobs(blob(metadata, 4))));
    append(metadata, 0);
    BlobRow grown = metadata.object("b", "small").orElseThrow().blobs().getFirst();
    metadata.submit(Command.newBuilder().setFoldBlob(TestBlobs.fold(metadata, grown, 1)));
    append(metadata, 1);
    repair(metadata);
    return metadata;
  }

  /**
   * What version 4 adds: versions and their facts, settings of buckets, usage, events, identities.
   */
  private static void writeOfVersion4(MemoryMetadata metadata) throws Exception {
    metadata.require(
        Command.newBuilder()
            .setCreateBucket(CreateBucket.newBuilder().setName("v").setOwner("me").setLock(true)));
    metadata.require(
        Command.newBuilder()
            .setSetBucketLock(
                SetBucketLock.newBuilder()
                    .setBucket("v")
                    .setRetention(
                        DefaultRetention.newBuilder()
                            .setMode(ObjectLock.Mode.GOVERNANCE)
                            .setDays(1))));
    metadata.require(
        Command.newBuilder()
            .setPutBucketDocument(
                PutBucketDocument.newBuilder()
                    .setBucket("v")
                    .setKind(2)
                    .setDocument(ByteString.copyFromUtf8("document"))
                    .setNotifiedEvents(1)));
    metadata.require(
        Command.newBuilder()
            .setSetBucketQuota(
                SetBucketQuota.newBuilder()
                    .setBucket("v")
                    .setQuota(Quota.newBuilder().setBytesMax(1L << 40).setObjectsMax(100))));
    for (int i = 10; i < 12; i++) {
      Command.Builder put = TestBlobs.put("v", "k", blob(metadata, i));
      put.getPutObjectBuilder()
          .setAttributes(ObjectAttributes.newBuilder().putUserMetadata("n", "v".repeat(300)))
          .setFacts(
              ObjectFacts.newBuilder()
                  .addTags(Tag.newBuilder().setKey("tag").setValue("" + i))
                  .setAcl(ByteString.copyFromUtf8("acl")));
      metadata.require(put);
    }
    metadata.require(TestBlobs.delete("v", "k"));
    metadata.require(
        Command.newBuilder()
            .setSetBucketVersioning(
                SetBucketVersioning.newBuilder()
                    .setBucket("b")
                    .setVersioning(Versioning.VERSIONING_SUSPENDED)));
    metadata.require(TestBlobs.delete("b", "null"));
    metadata.require(TestIdentities.putNew(TestIdentities.account(TestIdentities.ACCOUNT)));
    IdentityRow.Builder policy = TestIdentities.policy("p");
    metadata.require(TestIdentities.putNew(policy));
    metadata.require(TestIdentities.putNew(TestIdentities.group("g")));
    metadata.require(TestIdentities.putNew(TestIdentities.role("r")));
    metadata.require(TestIdentities.putNew(TestIdentities.provider("o")));
    IdentityRow.Builder user =
        TestIdentities.user("u")
            .addDocuments(TestIdentities.document("inline"))
            .addAttachedPolicies(policy.getId())
            .addGroups(TestIdentities.id("AGPA", "g"));
    metadata.require(TestIdentities.putNew(user));
    metadata.require(TestIdentities.put(TestIdentities.key("key", user.getId())));
  }

  /** What version 5 adds: a bucket with a document, a marked rename, a legal hold that was told. */
  private static void writeOfVersion5(MemoryMetadata metadata) throws Exception {
    metadata.require(
        Command.newBuilder()
            .setCreateBucket(
                CreateBucket.newBuilder()
                    .setName("w")
                    .setOwner("me")
                    .setLock(true)
                    .addDocuments(
                        CreateBucket.Document.newBuilder()
                            .setKind(1)
                            .setDocument(ByteString.copyFromUtf8("document")))));
    metadata.require(TestBlobs.put("w", "k", blob(metadata, 12)));
    metadata.require(
        Command.newBuilder()
            .setSetObjectFacts(
                SetObjectFacts.newBuilder().setBucket("w").setKey("k").setLegalHold(false)));
    metadata.require(TestBlobs.put("b", "from", blob(metadata, 13)));
    metadata.require(
        Command.newBuilder()
            .setRenameObject(
                RenameObject.newBuilder()
                    .setBucket("b")
                    .setSourceKey("from")
                    .setKey("to")
                    .setMark(
                        RenameMark.newBuilder()
                            .setClientToken("token")
                            .setParameters(ByteString.copyFromUtf8("digest")))));
  }

  /**
   * What version 8 adds: a further profile, a blob of it in debt, and one that was removed; a moved
   * version, and a job that moves some.
   */
  private static void writeOfVersion8(MemoryMetadata metadata) throws Exception {
    metadata.require(TestProfiles.add(metadata, "HOT", new Profile(1, 2, 4096), 2));
    metadata.require(TestProfiles.add(metadata, "OLD", new Profile(1, 0, 4096), 3));
    metadata.require(TestProfiles.remove(metadata, 2));
    BlobId id = BlobId.of(metadata.session(), 1, 20);
    metadata.require(
        TestBlobs.put("b", "hot", TestBlobs.acknowledged(metadata, id, 5000).removeAcks(2)));
    metadata.require(TestProfiles.setDefault(metadata, 1));
    metadata.require(put(metadata, "moved", 21));
    ObjectRecord moved = metadata.object("b", "moved").orElseThrow().object();
    BlobId other = BlobId.of(metadata.session(), 1, 22);
    metadata.require(
        Command.newBuilder()
            .setMoveObject(
                MoveObject.newBuilder()
                    .setBucket("b")
                    .setKey("moved")
                    .setVersion(moved.getVersion())
                    .setStorageClass("HOT")
                    .addBlobs(TestBlobs.acknowledged(metadata, other, 100_000))));
    metadata.require(
        Command.newBuilder()
            .setBeginMove(
                BeginMove.newBuilder()
                    .setBucket("b")
                    .setPrefix("m")
                    .setStorageClass("HOT")
                    .setBytesPerSecond(1 << 20)));
    MoveJobRow job = metadata.moveJobs().getFirst();
    metadata.require(
        Command.newBuilder()
            .setSaveMove(
                SaveMove.newBuilder()
                    .setJob(
                        job.toBuilder()
                            .setState(MoveJobRow.State.RUNNING)
                            .setKey("moved")
                            .setVersion(moved.getVersion())
                            .setBytesMoved(100_000))));
  }

  /** What version 9 adds: an encrypted object, and an encrypted part of an upload. */
  private static void writeOfVersion9(MemoryMetadata metadata) throws Exception {
    EncryptedRun run =
        EncryptedRun.newBuilder()
            .setId(ByteString.copyFromUtf8("0123456789abcdef"))
            .setSize(70_000)
            .build();
    ByteString key = ByteString.copyFromUtf8("wrapped");
    long stored = FrameLayout.storedSize(run.getSize());
    Command.Builder put =
        TestBlobs.put(
            "b",
            "encrypted",
            TestBlobs.acknowledged(metadata, new BlobId(metadata.session(), 30), stored));
    put.getPutObjectBuilder()
        .setFacts(ObjectFacts.newBuilder().setWrappedKey(key).addRuns(run))
        .getSummaryBuilder()
        .setSize(run.getSize());
    metadata.require(put);
    UploadRow.Builder upload = UploadRow.newBuilder().setBucket("b").setKey("k").setUploadId("e");
    upload.getFactsBuilder().setWrappedKey(key);
    metadata.require(
        Command.newBuilder().setCreateUpload(CreateUpload.newBuilder().setUpload(upload)));
    metadata.require(
        Command.newBuilder()
            .setPutPart(
                PutPart.newBuilder()
                    .setBucket("b")
                    .setKey("k")
                    .setUploadId("e")
                    .setPart(
                        PartRow.newBuilder()
                            .setNumber(1)
                            .setSize(run.getSize())
                            .setEtag("e")
                            .setRun(run))
                    .addBlobs(
                        TestBlobs.acknowledged(
                            metadata, new BlobId(metadata.session(), 31), stored))));
  }

  /** A drive is replaced; of two blobs one has its shard again. */
  private static void repair(MemoryMetadata metadata) throws Exception {
    UUID drive = new UUID(0, 3);
    metadata.submit(
        Command.newBuilder()
            .setPutDrives(PutDrives.newBuilder().addDrives(new DriveId(drive, 2).toMessage())));
    List<BlobRow> rows = metadata.object("b", "large \u0000 é").orElseThrow().blobs();
    BlobRow row = rows.getFirst();
    RecordDebts.Builder note = RecordDebts.newBuilder();
    rows.forEach(each -> note.addBlobs(each.getId()));
    metadata.submit(Command.newBuilder().setRecordDebts(note));
    int slot = metadata.placement().slotDrives().get(row.getPg()).indexOf(drive);
    RepairedShard shard =
        RepairedShard.newBuilder()
            .setAck(TestBlobs.acks(metadata, row.getPg()).get(slot))
            .setName(new BlobId(metadata.session(), 9).toMessage())
            .setNameBefore(row.getId())
            .build();
    metadata.submit(
        Command.newBuilder()
            .setRepairBlob(RepairBlob.newBuilder().setBlob(row.getId()).addShards(shard)));
  }

  private static void append(MemoryMetadata metadata, long attempt) throws Exception {
    BlobRow row = metadata.object("b", "small").orElseThrow().blobs().getFirst();
    long end = row.getLength();
    ObjectPiece piece = TestBlobs.piece(TestBlobs.change(metadata, row, attempt, end - 1, 40_000));
    metadata.submit(
        Command.newBuilder()
            .setModifyObject(TestBlobs.modify("b", "small", end - 1, List.of(piece))));
  }

  private static NewBlob.Builder blob(MemoryMetadata metadata, long sequence) {
    return TestBlobs.acknowledged(metadata, new BlobId(metadata.session(), sequence), 100_000);
  }

  private static Command.Builder put(MemoryMetadata metadata, String key, long sequence) {
    return TestBlobs.put("b", key, blob(metadata, sequence));
  }

  private List<String> lines() {
    HexFormat hex = HexFormat.of();
    return table.rows().entrySet().stream()
        .map(row -> hex.formatHex(row.getKey()) + "=" + hex.formatHex(row.getValue()))
        .toList();
  }

  @Test
  void rowsOfVersion3AreAsTheyAlwaysWere() throws Exception {
    write(3);
    assertEquals(golden(3), lines());
    assertEquals(KINDS_OF_VERSION_3, kinds());
  }

  @Test
  void rowsOfVersion4AreAsTheyAlwaysWere() throws Exception {
    writeOfVersion4(write(4));
    assertEquals(golden(4), lines());
    assertEquals(KINDS_OF_VERSION_4, kinds());
  }

  @Test
  void rowsOfVersion5AreAsTheyAlwaysWere() throws Exception {
    MemoryMetadata metadata = write(5);
    writeOfVersion4(metadata);
    writeOfVersion5(metadata);
    assertEquals(golden(5), lines());
    assertEquals(KINDS_OF_VERSION_4, kinds());
  }

  @Test
  void rowsOfVersion6AreAsTheyAlwaysWere() throws Exception {
    MemoryMetadata metadata = write(6);
    writeOfVersion4(metadata);
    writeOfVersion5(metadata);
    assertEquals(golden(6), lines());
    assertEquals(KINDS_OF_VERSION_4, kinds());
  }

  @Test
  void rowsOfVersion7AreAsTheyAlwaysWere() throws Exception {
    MemoryMetadata metadata = write(7);
    writeOfVersion4(metadata);
    writeOfVersion5(metadata);
    assertEquals(golden(7), lines());
    assertEquals(KINDS_OF_VERSION_4, kinds());
  }

  /** But for the number of the version, a store of one profile has the same rows as before. */
  @Test
  void aStoreOfOneProfileHasTheRowsOfVersion7() throws Exception {
    MemoryMetadata metadata = write(8);
    writeOfVersion4(metadata);
    writeOfVersion5(metadata);
    assertEquals(withoutApplied(golden(7)), withoutApplied(lines()));
  }

  @Test
  void rowsOfVersion8AreAsTheyAlwaysWere() throws Exception {
    MemoryMetadata metadata = write(8);
    writeOfVersion4(metadata);
    writeOfVersion5(metadata);
    writeOfVersion8(metadata);
    assertEquals(golden(8), lines());
    assertEquals(KINDS_OF_VERSION_8, kinds());
  }

  /** But for the number of the version, a store without encryption has the same rows as before. */
  @Test
  void aStoreWithoutEncryptionHasTheRowsOfVersion8() throws Exception {
    MemoryMetadata metadata = write(9);
    writeOfVersion4(metadata);
    writeOfVersion5(metadata);
    writeOfVersion8(metadata);
    assertEquals(withoutApplied(golden(8)), withoutApplied(lines()));
  }

  @Test
  void rowsAreAsTheyAlwaysWere() throws Exception {
    MemoryMetadata metadata = write(MetadataVersion.KNOWN);
    writeOfVersion4(metadata);
    writeOfVersion5(metadata);
    writeOfVersion8(metadata);
    writeOfVersion9(metadata);
    assertEquals(golden(MetadataVersion.KNOWN), lines());
    assertEquals(KINDS_OF_VERSION_9, kinds());
  }

  /** All rows but that with the number of the version. */
  private static List<String> withoutApplied(List<String> rows) {
    List<String> others = rows.stream().filter(line -> !line.startsWith("58=")).toList();
    assertEquals(rows.size() - 1, others.size());
    return others;
  }

  private long kinds() {
    return table.rows().keySet().stream().map(key -> key[0]).distinct().count();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void rowsOfEarlierVersionsAreReadable(int version) throws Exception {
    HexFormat hex = HexFormat.of();
    for (String line : golden(version)) {
      int equals = line.indexOf('=');
      table
          .rows()
          .put(hex.parseHex(line.substring(0, equals)), hex.parseHex(line.substring(equals + 1)));
    }
    MemoryMetadata metadata = new MemoryMetadata(table, clock);
    assertEquals(2, metadata.object("b", "large \u0000 é").orElseThrow().blobs().size());
    assertEquals(1, metadata.parts("b", "k", "u", 0, 10).size());
    int moved = version < MetadataVersion.ADDS_PROFILES ? 0 : 1; // from the blob it had before
    assertEquals(1 + moved, metadata.garbage(Long.MAX_VALUE, null, 10).size());
    assertEquals(1, metadata.unfolded(null, 10).getFirst().getAttemptsCount());
    assertEquals(1, metadata.blobsInDebt(0, null, 10).size());
    assertEquals(1, metadata.debts().getFirst().getBlobs());
    assertEquals(1, metadata.neededShards(new UUID(0, 3), List.of(new BlobId(256, 9))).size());
    assertEquals("secret", metadata.credential("access").orElseThrow().getSecretKey());
  }

  /** Of a 4+2, of which one drive had not acknowledged it. */
  @Test
  void rowRecordsWhichSlotsMissedAChange() throws Exception {
    MemoryMetadata metadata =
        MemoryMetadata.withDrives(MetadataVersion.KNOWN, new Profile(4, 2, 16384), 6, 1);
    metadata.submit(TestBlobs.createBucket("b"));
    metadata.submit(put(metadata, "k", 0));
    BlobRow base = metadata.object("b", "k").orElseThrow().blobs().getFirst();
    BlobChange.Builder change = TestBlobs.change(metadata, base, 0, 99_999, 40_000).removeAcks(5);
    metadata.submit(
        Command.newBuilder()
            .setModifyObject(TestBlobs.modify("b", "k", 99_999, List.of(TestBlobs.piece(change)))));
    BlobRow row = metadata.object("b", "k").orElseThrow().blobs().getFirst();
    assertEquals(List.of(5), row.getAttempts(0).getMissedSlotsList());
    List<String> golden = golden("missed-slots-v3");
    assertEquals(golden, List.of(HexFormat.of().formatHex(row.toByteArray())));
    assertEquals(row, BlobRow.parseFrom(HexFormat.of().parseHex(golden.getFirst())));
  }

  private List<String> golden(int format) throws Exception {
    return golden("rows-v" + format);
  }

  private List<String> golden(String name) throws Exception {
    try (InputStream file = getClass().getResourceAsStream("/golden/" + name + ".txt")) {
      if (file == null) {
        throw new IllegalStateException("golden/" + name + ".txt is missing");
      }
      return new String(file.readAllBytes(), StandardCharsets.US_ASCII).lines().toList();
    }
  }
}
