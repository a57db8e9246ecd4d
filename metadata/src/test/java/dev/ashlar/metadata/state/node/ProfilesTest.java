package dev.ashlar.metadata.state.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.protocol.client.DebtsPage;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.message.AbortUpload;
import dev.ashlar.protocol.message.BlobIdValue;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.DebtKind;
import dev.ashlar.protocol.message.DebtLevel;
import dev.ashlar.protocol.message.FailureDomain;
import dev.ashlar.protocol.message.ForgetBlobs;
import dev.ashlar.protocol.message.MoveSlots;
import dev.ashlar.protocol.message.NodeHeartbeat;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.PgMapRow;
import dev.ashlar.protocol.message.PgRow;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.RecordDebts;
import dev.ashlar.protocol.message.RegisterNode;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetBucketStorageClass;
import dev.ashlar.protocol.message.SlotMove;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.NodeLiveness;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProfilesTest {
  private static final Profile FOUR_TWO = new Profile(4, 2, 16384);
  private static final Profile ONE_TWO = new Profile(1, 2, 4096);
  private static final int DRIVES = 8;
  private static final int GROUPS = 16;

  private final MemoryMetadata metadata = MemoryMetadata.withDrives(FOUR_TWO, DRIVES, GROUPS);
  private long count;

  private ResultCode code(Command.Builder command) throws Exception {
    return metadata.submit(command).getCode();
  }

  private void addHot() {
    metadata.require(TestProfiles.add(metadata, "HOT", ONE_TWO, 5));
  }

  private Command.Builder put(String key, int number) {
    BlobId id = BlobId.of(metadata.session(), number, count++);
    return TestBlobs.put("b", key, TestBlobs.acknowledged(metadata, id, 1000));
  }

  private List<BlobRow> blobs(String key) throws Exception {
    return metadata.object("b", key).orElseThrow().blobs();
  }

  @Test
  void blobsOfSeveralProfilesAreFoundInTheirGroups() throws Exception {
    addHot();
    metadata.require(TestBlobs.createBucket("b"));
    metadata.require(put("cold", 0));
    metadata.require(put("hot", 1));
    BlobRow hot = blobs("hot").getFirst();
    assertEquals(ONE_TWO.toMessage(), hot.getProfile());
    assertTrue(hot.getPg() >= GROUPS && hot.getPg() < GROUPS + 5);
    assertEquals(List.of(hot), metadata.blobsOfPlacementGroup(hot.getPg(), null, 10));
    assertEquals(FOUR_TWO.toMessage(), blobs("cold").getFirst().getProfile());
    assertEquals(2, metadata.placement().epoch());
  }

  private static Command.Builder setClass(String bucket, String name) {
    return Command.newBuilder()
        .setSetBucketStorageClass(
            SetBucketStorageClass.newBuilder().setBucket(bucket).setStorageClass(name));
  }

  @Test
  void aBucketHasAClassThatIsThereAndThatStays() throws Exception {
    addHot();
    metadata.require(TestBlobs.createBucket("b"));
    assertEquals(ResultCode.NO_SUCH_CLASS, code(setClass("b", "COLD")));
    assertEquals(ResultCode.NO_SUCH_BUCKET, code(setClass("none", "HOT")));
    metadata.require(setClass("b", "HOT"));
    BucketRow bucket = metadata.bucket("b").orElseThrow();
    assertEquals("HOT", bucket.getStorageClass());
    assertEquals(ResultCode.DELETE_CONFLICT, code(TestProfiles.remove(metadata, 1)));
    metadata.require(setClass("b", ""));
    assertTrue(metadata.bucket("b").orElseThrow().getConfigRevision() > bucket.getConfigRevision());
    assertEquals(ResultCode.OK, code(TestProfiles.remove(metadata, 1)));
    assertEquals(ResultCode.NO_SUCH_CLASS, code(setClass("b", "HOT")));
  }

  @Test
  void aBlobMustHaveTheGroupAndTheProfileThatItsIdNames() throws Exception {
    addHot();
    metadata.require(TestBlobs.createBucket("b"));
    BlobId id = BlobId.of(metadata.session(), 1, 100);
    var blob = TestBlobs.acknowledged(metadata, id, 1000);
    assertEquals(
        ResultCode.INVALID_COMMAND,
        code(TestBlobs.put("b", "k", blob.clone().setProfile(FOUR_TWO.toMessage()))));
    assertEquals(
        ResultCode.INVALID_COMMAND,
        code(TestBlobs.put("b", "k", blob.clone().setPg(blob.getPg() - 5))));
    BlobId unknown = BlobId.of(metadata.session(), 2, 100);
    assertEquals(
        ResultCode.INVALID_COMMAND,
        code(TestBlobs.put("b", "k", blob.clone().setId(unknown.toMessage()))));
    metadata.require(TestBlobs.put("b", "k", blob));
  }

  @Test
  void aProfileIsRefusedThatIsNotWellFormed() throws Exception {
    addHot();
    Command.Builder good = TestProfiles.add(metadata, "COLD", new Profile(6, 2, 4096), 3);
    assertEquals(
        ResultCode.ENTITY_ALREADY_EXISTS, code(TestProfiles.add(metadata, "HOT", ONE_TWO, 5)));
    for (String name : List.of("STANDARD", "FIRST", "cold", "")) {
      assertEquals(ResultCode.INVALID_COMMAND, code(TestProfiles.add(metadata, name, ONE_TWO, 5)));
    }
    Command.Builder stale = good.clone();
    stale.getAddProfileBuilder().setBaseEpoch(1);
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, code(stale));
    Command.Builder strange = good.clone();
    PgRow.Builder group = strange.getAddProfileBuilder().getProfileBuilder().getPgsBuilder(1);
    group.getSlotsBuilder(2).setDriveLow(77);
    assertEquals(ResultCode.INVALID_COMMAND, code(strange), "a drive that nobody has");
    Command.Builder narrow = good.clone();
    narrow.getAddProfileBuilder().getProfileBuilder().getPgsBuilder(0).removeSlots(0);
    assertEquals(ResultCode.INVALID_COMMAND, code(narrow));
    Command.Builder removed = good.clone();
    removed.getAddProfileBuilder().getProfileBuilder().clearPgs().setRemovedPgs(3);
    assertEquals(ResultCode.INVALID_COMMAND, code(removed));
    metadata.require(good);
    for (int i = 0; i < 5; i++) {
      metadata.require(TestProfiles.add(metadata, "P" + i, ONE_TWO, 1));
    }
    assertEquals(ResultCode.LIMIT_EXCEEDED, code(TestProfiles.add(metadata, "P5", ONE_TWO, 1)));
  }

  @Test
  void removedProfilesCountForTheNumberOfAll() throws Exception {
    for (int number = 1; number < Profiles.EVER_MAX; number++) {
      metadata.require(TestProfiles.add(metadata, "HOT", ONE_TWO, 1));
      metadata.require(TestProfiles.remove(metadata, number));
    }
    assertEquals(ResultCode.LIMIT_EXCEEDED, code(TestProfiles.add(metadata, "HOT", ONE_TWO, 1)));
  }

  @Test
  void theDefaultIsWhatIsChosen() throws Exception {
    addHot();
    assertEquals(0, metadata.placement().standardNumber());
    metadata.require(TestProfiles.setDefault(metadata, 1));
    assertEquals("HOT", metadata.placement().standard().name());
    assertEquals(ResultCode.NO_SUCH_PROFILE, code(TestProfiles.setDefault(metadata, 2)));
    assertEquals(ResultCode.DELETE_CONFLICT, code(TestProfiles.remove(metadata, 1)));
    metadata.require(TestProfiles.remove(metadata, 0));
    assertEquals(ResultCode.NO_SUCH_PROFILE, code(TestProfiles.setDefault(metadata, 0)));
    assertEquals(1, metadata.placement().present().size());
  }

  /** It would be taken without an error, and change nothing of the profiles. */
  @Test
  void aMapOfDrivesThatHasOtherProfilesIsRefused() throws Exception {
    addHot();
    PgMapRow.Builder same = metadata.placement().toMessage().toBuilder().setEpoch(3);
    PgMapRow.Builder otherDefault = same.clone().setStandard(1);
    PgMapRow.Builder otherName = same.clone();
    otherName.getAddedBuilder(0).setName("COLD");
    PgMapRow.Builder otherDomain = same.clone().setFailureDomain(FailureDomain.DOMAIN_RACK);
    for (PgMapRow.Builder row : List.of(otherDefault, otherName, otherDomain)) {
      assertEquals(ResultCode.INVALID_COMMAND, code(putMap(row)));
    }
    metadata.require(putMap(same));
  }

  private static Command.Builder putMap(PgMapRow.Builder row) {
    return Command.newBuilder().setPutDrives(PutDrives.newBuilder().setPgMap(row));
  }

  @Test
  void aProfileIsRemovedOnlyWhenNoBlobHasIt() throws Exception {
    addHot();
    metadata.require(TestBlobs.createBucket("b"));
    metadata.require(put("k", 1));
    BlobRow row = blobs("k").getFirst();
    assertEquals(ResultCode.DELETE_CONFLICT, code(TestProfiles.remove(metadata, 1)));
    metadata.require(TestBlobs.delete("b", "k"));
    assertEquals(
        ResultCode.DELETE_CONFLICT, code(TestProfiles.remove(metadata, 1)), "it is garbage");
    metadata.require(
        Command.newBuilder().setForgetBlobs(ForgetBlobs.newBuilder().addBlobs(row.getId())));
    metadata.require(TestProfiles.remove(metadata, 1));
    assertEquals(ResultCode.NO_SUCH_PROFILE, code(TestProfiles.remove(metadata, 1)));
    metadata.require(TestProfiles.add(metadata, "HOT", ONE_TWO, 4));
    PlacedProfile again = metadata.placement().ofClass("HOT").orElseThrow();
    assertEquals(2, again.number());
    assertEquals(GROUPS + 5, again.firstGroup());
  }

  @Test
  void aProfileIsNotRemovedUnderAnUpload() throws Exception {
    addHot();
    metadata.require(TestBlobs.createBucket("b"));
    UploadRow.Builder upload =
        UploadRow.newBuilder().setBucket("b").setKey("k").setUploadId("u").setStorageClass("HOT");
    metadata.require(
        Command.newBuilder().setCreateUpload(CreateUpload.newBuilder().setUpload(upload)));
    assertEquals(ResultCode.DELETE_CONFLICT, code(TestProfiles.remove(metadata, 1)));
    metadata.require(
        Command.newBuilder()
            .setAbortUpload(AbortUpload.newBuilder().setBucket("b").setKey("k").setUploadId("u")));
    metadata.require(TestProfiles.remove(metadata, 1));
    upload.setUploadId("v");
    assertEquals(
        ResultCode.NO_SUCH_CLASS,
        code(Command.newBuilder().setCreateUpload(CreateUpload.newBuilder().setUpload(upload))));
  }

  /** Sending it again does not help, unlike with data of a profile that was the default. */
  @Test
  void aClassThatWasRemovedIsToldFromAProfileThatWasRemoved() throws Exception {
    addHot();
    metadata.require(TestBlobs.createBucket("b"));
    Command.Builder put = put("k", 1);
    Command.Builder ofClass = put.clone();
    ofClass.getPutObjectBuilder().getSummaryBuilder().setStorageClass("HOT");
    metadata.require(TestProfiles.remove(metadata, 1));
    assertEquals(ResultCode.NO_SUCH_PROFILE, code(put));
    assertEquals(ResultCode.NO_SUCH_CLASS, code(ofClass));
  }

  /** A peer that has not applied the addition cannot look the blob up. */
  @Test
  void shardsOfAnUnknownProfileAreNeeded() throws Exception {
    BlobId known = BlobId.of(metadata.session(), 0, 500);
    BlobId unknown = BlobId.of(metadata.session(), 1, 500);
    UUID drive = metadata.placement().drive(0, 0);
    assertEquals(Set.of(unknown), metadata.neededShards(drive, List.of(known, unknown)));
    addHot();
    assertEquals(Set.of(), metadata.neededShards(drive, List.of(known, unknown)));
  }

  /** Whichever comes first, the removal or the commit, the other one is refused. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aRemovalAndACommitExcludeEachOther(boolean isCommitFirst) throws Exception {
    addHot();
    metadata.require(TestBlobs.createBucket("b"));
    Command.Builder put = put("k", 1);
    Command.Builder remove = TestProfiles.remove(metadata, 1);
    if (isCommitFirst) {
      assertEquals(ResultCode.OK, code(put));
      assertEquals(ResultCode.DELETE_CONFLICT, code(remove));
      assertEquals(1, blobs("k").size());
    } else {
      assertEquals(ResultCode.OK, code(remove));
      assertEquals(ResultCode.NO_SUCH_PROFILE, code(put));
      assertEquals(Optional.empty(), metadata.object("b", "k"));
    }
  }

  @Test
  void commandsAreRefusedWhileOlderMetadataIsInUse() throws Exception {
    MemoryMetadata older = MemoryMetadata.withDrives(7, FOUR_TWO, DRIVES, GROUPS);
    for (Command.Builder command :
        List.of(
            TestProfiles.add(older, "HOT", ONE_TWO, 5),
            TestProfiles.remove(older, 0),
            TestProfiles.setDefault(older, 0))) {
      assertEquals(ResultCode.INVALID_COMMAND, older.submit(command).getCode());
    }
    older.raiseVersion();
    older.require(TestProfiles.add(older, "HOT", ONE_TWO, 5));
  }

  /** An older build would look for its blobs in wrong placement groups. */
  @Test
  void noProfileIsAddedWhileALiveNodeDoesNotKnowThem() throws Exception {
    ManualClock clock = new ManualClock(1_000_000);
    MemoryMetadata cluster = new MemoryMetadata(clock);
    cluster.require(
        Command.newBuilder()
            .setPutDrives(
                MemoryMetadata.drives(FOUR_TWO, MemoryMetadata.sequentialIds(DRIVES), GROUPS)));
    MemoryMetadata old = cluster.anotherClient();
    NodeRow.Builder node = NodeRow.newBuilder().setHost("h").setGateway(true);
    Command.Builder registration = register(node.clone().setName("old"));
    cluster.require(register(node.clone().setName("new").setKnowsProfiles(true)));
    old.require(registration);
    Command.Builder add = TestProfiles.add(cluster, "HOT", ONE_TWO, 5);
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, cluster.submit(add).getCode());
    for (long ms = 0; ms <= NodeLiveness.DOWN_MS; ms += NodeLiveness.HEARTBEAT_MS) {
      clock.advanceMs(NodeLiveness.HEARTBEAT_MS);
      cluster.require(
          Command.newBuilder().setNodeHeartbeat(NodeHeartbeat.newBuilder().setName("new")));
    }
    cluster.require(add);
    assertEquals(
        ResultCode.STALE_REQUEST,
        old.submit(Command.newBuilder().setNodeHeartbeat(NodeHeartbeat.newBuilder().setName("old")))
            .getCode(),
        "it lived on behind a broken network");
    assertFalse(cluster.registry().getSessionsList().contains(old.session()));
    assertTrue(cluster.registry().getSessionsList().contains(cluster.session()));
    assertEquals(
        ResultCode.INVALID_COMMAND, cluster.anotherClient().submit(registration).getCode());
    cluster.anotherClient().require(register(node.clone().setName("old").setKnowsProfiles(true)));
  }

  private static Command.Builder register(NodeRow.Builder node) {
    return Command.newBuilder().setRegisterNode(RegisterNode.newBuilder().setNode(node));
  }

  /** At level 2, blobs of 4+2 have only to move, and those of 3+3 lack a shard. */
  @Test
  void aLevelIsListedByWhatItsBlobsNeed() throws Exception {
    metadata.require(TestProfiles.add(metadata, "WIDE", new Profile(3, 3, 4096), 4));
    metadata.require(TestBlobs.createBucket("b"));
    metadata.require(putStripe("moves", 0));
    BlobRow moves = blobs("moves").getFirst();
    UUID spare =
        metadata.drives().keySet().stream()
            .filter(drive -> !metadata.placement().slots(moves.getPg()).contains(drive))
            .findFirst()
            .orElseThrow();
    metadata.require(
        Command.newBuilder()
            .setMoveSlots(
                MoveSlots.newBuilder()
                    .setBaseEpoch(metadata.placement().epoch())
                    .addMoves(
                        SlotMove.newBuilder()
                            .setPg(moves.getPg())
                            .setDriveHigh(spare.getMostSignificantBits())
                            .setDriveLow(spare.getLeastSignificantBits()))));
    metadata.require(
        Command.newBuilder().setRecordDebts(RecordDebts.newBuilder().addBlobs(moves.getId())));
    Command.Builder lacking = putStripe("lacks", 1);
    lacking.getPutObjectBuilder().getBlobsBuilder(0).removeAcks(5);
    metadata.require(lacking);
    assertEquals(1, metadata.debts().size());
    assertEquals(List.of(id("moves")), ids(DebtKind.DEBT_MOVING));
    assertEquals(List.of(id("lacks")), ids(DebtKind.DEBT_LACKING));
    assertEquals(2, ids(DebtKind.DEBT_ANY).size());
    DebtsPage page = metadata.blobsInDebt(DebtKind.DEBT_LACKING, 2, null, 1);
    DebtsPage rest = metadata.blobsInDebt(DebtKind.DEBT_LACKING, 2, page.next(), 1);
    assertEquals(1, page.blobs().size() + (page.next() == null ? 0 : rest.blobs().size()));
  }

  private Command.Builder putStripe(String key, int number) {
    long length = metadata.placement().numbered(number).orElseThrow().profile().stripeBytes();
    BlobId id = BlobId.of(metadata.session(), number, count++);
    return TestBlobs.put("b", key, TestBlobs.acknowledged(metadata, id, length));
  }

  private BlobIdValue id(String key) throws Exception {
    return blobs(key).getFirst().getId();
  }

  private List<BlobIdValue> ids(DebtKind kind) throws Exception {
    return metadata.blobsInDebt(kind, 2, null, 10).blobs().stream().map(BlobRow::getId).toList();
  }

  @Test
  void debtsAreCountedPerProfile() throws Exception {
    metadata.require(TestProfiles.add(metadata, "WIDE", new Profile(3, 3, 4096), 4));
    metadata.require(TestBlobs.createBucket("b"));
    BlobId id = BlobId.of(metadata.session(), 1, 7);
    var blob = TestBlobs.acknowledged(metadata, id, 3 * 4096).removeAcks(5);
    metadata.require(TestBlobs.put("b", "k", blob));
    DebtLevel level = metadata.debts().getFirst();
    assertEquals(2, level.getSpare());
    assertEquals(1, level.getAdded(0).getNumber());
    assertEquals(level.getBytes(), level.getAdded(0).getBytes());
    metadata.require(TestBlobs.delete("b", "k"));
    assertEquals(List.of(), metadata.debts());
    PlacementMap map = metadata.placement();
    assertEquals(map, PlacementMap.of(map.toMessage()));
  }
}
