package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.object.VersionCommands.BUCKET;
import static dev.ashlar.metadata.state.object.VersionCommands.NULL;
import static dev.ashlar.metadata.state.object.VersionCommands.ref;
import static dev.ashlar.metadata.state.object.VersionCommands.tags;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.client.ListQuery;
import dev.ashlar.protocol.client.VersionRead;
import dev.ashlar.protocol.client.VersionsQuery;
import dev.ashlar.protocol.message.BucketConfigAnswer;
import dev.ashlar.protocol.message.BucketConfigQuery;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CopyObject;
import dev.ashlar.protocol.message.CreateBucket;
import dev.ashlar.protocol.message.DefaultRetention;
import dev.ashlar.protocol.message.DeleteBucket;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.DeleteResult;
import dev.ashlar.protocol.message.DeleteTarget;
import dev.ashlar.protocol.message.KeyQuery;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.ObjectAttributes;
import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.Precondition;
import dev.ashlar.protocol.message.PutBucketDocument;
import dev.ashlar.protocol.message.RenameMark;
import dev.ashlar.protocol.message.RenameObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetBucketLock;
import dev.ashlar.protocol.message.SetBucketVersioning;
import dev.ashlar.protocol.message.SetObjectFacts;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.message.Versioning;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class VersionsTest {
  private VersionCommands it = VersionCommands.withBucket();

  private ObjectRecord record(String key, long version) throws Exception {
    return ((VersionRead.Content) it.metadata().version(BUCKET, key, ref(version))).read().object();
  }

  private List<String> listed() throws Exception {
    return it.page("", null, 1000).entries().stream().map(VersionsTest::text).toList();
  }

  /** For example "k null 5 latest", with the size of the version. */
  private static String text(VersionEntry entry) {
    return entry.getName()
        + (entry.getVersioned() ? " id " : " null ")
        + (entry.getDeleteMarker() ? "marker" : entry.getSummary().getSize())
        + (entry.getLatest() ? " latest" : "");
  }

  @Test
  void withoutVersioningAPutReplacesAndADeleteDeletes() throws Exception {
    it.put("k", 1);
    CommandResult second = it.put(it.object("k", 2));
    assertFalse(second.getVersioned());
    assertEquals(List.of("k null 2 latest"), listed());
    assertEquals(DeleteResult.newBuilder().setFound(true).build(), it.delete("k"));
    assertEquals(DeleteResult.getDefaultInstance(), it.delete("k"));
    assertEquals(0, it.rows());
  }

  @Test
  void aNullVersionCanBeDeletedByItsIdWithoutVersioning() throws Exception {
    long version = it.put("k", 1);
    assertFalse(it.delete("k", ref(version)).getFound());
    assertEquals(1, it.size("k", null));
    assertTrue(it.delete("k", NULL).getFound());
    assertEquals(-2, it.size("k", null));
  }

  @Test
  void enabledVersioningKeepsWhatWasThere() throws Exception {
    it.put("k", 1);
    it.versioning(Versioning.VERSIONING_ENABLED);
    CommandResult second = it.put(it.object("k", 2));
    assertTrue(second.getVersioned());
    long third = it.put("k", 3);
    assertEquals(List.of("k id 3 latest", "k id 2", "k null 1"), listed());
    assertEquals(3, it.size("k", null));
    assertEquals(2, it.size("k", ref(second.getVersion())));
    assertEquals(1, it.size("k", NULL));
    DeleteResult marker = it.delete("k");
    assertTrue(marker.getFound() && marker.getDeleteMarker() && marker.getVersioned());
    assertEquals(-1, it.size("k", null));
    assertEquals(-1, it.size("k", ref(marker.getVersion())));
    assertEquals(3, it.size("k", ref(third)));
    assertTrue(it.metadata().object(BUCKET, "k").isEmpty());
    assertEquals(List.of("k id marker latest", "k id 3", "k id 2", "k null 1"), listed());
  }

  @Test
  void theOneBeforeADeletedVersionIsTheLatest() throws Exception {
    it.versioning(Versioning.VERSIONING_ENABLED);
    it.put("k", 1);
    long second = it.put("k", 2);
    long marker = it.delete("k").getVersion();
    long another = it.delete("k").getVersion();
    assertTrue(it.delete("k", ref(another)).getDeleteMarker());
    assertEquals(-1, it.size("k", null));
    it.delete("k", ref(marker));
    assertEquals(2, it.size("k", null));
    it.delete("k", ref(second));
    assertEquals(List.of("k id 1 latest"), listed());
    assertEquals(1, it.size("k", null));
  }

  @Test
  void suspendedVersioningReplacesTheNullVersionWhereverItIs() throws Exception {
    it.put("k", 1);
    it.versioning(Versioning.VERSIONING_ENABLED);
    it.put("k", 2);
    it.versioning(Versioning.VERSIONING_SUSPENDED);
    assertFalse(it.put(it.object("k", 3)).getVersioned());
    assertEquals(List.of("k null 3 latest", "k id 2"), listed());
    DeleteResult marker = it.delete("k");
    assertFalse(marker.getVersioned());
    assertEquals(List.of("k null marker latest", "k id 2"), listed());
    it.put("k", 4);
    assertEquals(List.of("k null 4 latest", "k id 2"), listed());
    it.versioning(Versioning.VERSIONING_ENABLED);
    it.put("k", 5);
    it.versioning(Versioning.VERSIONING_SUSPENDED);
    it.delete("k");
    assertEquals(List.of("k null marker latest", "k id 5", "k id 2"), listed());
    assertTrue(it.delete("k", NULL).getDeleteMarker());
    assertEquals(5, it.size("k", null));
  }

  @Test
  void aKeyNamedTwiceGetsOneMarker() throws Exception {
    it.versioning(Versioning.VERSIONING_ENABLED);
    DeleteTarget target = DeleteTarget.newBuilder().setKey("k").build();
    List<DeleteResult> results =
        it.accepted(
                Command.newBuilder()
                    .setDeleteObjects(
                        DeleteObjects.newBuilder()
                            .setBucket(BUCKET)
                            .addTargets(target)
                            .addTargets(target)))
            .getDeletesList();
    assertEquals(results.get(0).getVersion(), results.get(1).getVersion());
    assertEquals(List.of("k id marker latest"), listed());
  }

  /** A gateway of an older build knows no targets. */
  @Test
  void aKeyDeletedByAnOlderGatewayGetsAMarker() throws Exception {
    it.versioning(Versioning.VERSIONING_ENABLED);
    it.put("k", 1);
    assertEquals(List.of("k"), it.accepted(TestBlobs.delete(BUCKET, "k")).getDeletedKeysList());
    assertEquals(List.of("k id marker latest", "k id 1"), listed());
  }

  @Test
  void theConditionsOfATargetAreItsOwn() throws Exception {
    it.put("a", 1);
    it.put("b", 2);
    Precondition wrong = Precondition.newBuilder().setIfSize(7).build();
    Precondition right = Precondition.newBuilder().setIfSize(2).build();
    List<DeleteResult> results =
        it.accepted(
                Command.newBuilder()
                    .setDeleteObjects(
                        DeleteObjects.newBuilder()
                            .setBucket(BUCKET)
                            .addTargets(
                                DeleteTarget.newBuilder().setKey("a").setPrecondition(wrong))
                            .addTargets(
                                DeleteTarget.newBuilder().setKey("b").setPrecondition(right))))
            .getDeletesList();
    assertEquals(ResultCode.PRECONDITION_FAILED, results.get(0).getCode());
    assertTrue(results.get(1).getFound());
    assertEquals(List.of("a null 1 latest"), listed());
  }

  @Test
  void detailsOfEachVersionAreItsOwn() throws Exception {
    long first = it.put(described("k", 1, "x")).getVersion();
    it.versioning(Versioning.VERSIONING_ENABLED);
    long second = it.put(described("k", 2, "y")).getVersion();
    long third = it.put(described("k", 3, "z")).getVersion();
    assertEquals("y".repeat(400), described(second));
    assertEquals("z".repeat(400), described(third));
    it.delete("k", ref(third));
    it.delete("k", ref(second));
    VersionRead.Content only = (VersionRead.Content) it.metadata().version(BUCKET, "k", NULL);
    assertEquals(first, only.read().object().getVersion());
    assertEquals("x".repeat(400), only.read().object().getAttributes().getUserMetadataOrThrow("n"));
    it.delete("k", NULL);
    assertEquals(0, it.rows());
  }

  private dev.ashlar.protocol.message.PutObject.Builder described(
      String key, long size, String text) {
    return it.object(key, size)
        .setAttributes(ObjectAttributes.newBuilder().putUserMetadata("n", text.repeat(400)));
  }

  private String described(long version) throws Exception {
    return record("k", version).getAttributes().getUserMetadataOrThrow("n");
  }

  @ParameterizedTest
  @EnumSource(names = {"VERSIONING_ENABLED", "VERSIONING_SUSPENDED"})
  void whatHasVersionsIsNotChangedInPlace(Versioning versioning) throws Exception {
    it.put("k", 1);
    it.versioning(versioning);
    BlobId id = new BlobId(it.metadata().session(), 77);
    ModifyObject.Builder append =
        TestBlobs.modify(
            BUCKET, "k", 1, List.of(TestBlobs.piece(TestBlobs.acknowledged(it.metadata(), id, 1))));
    assertEquals(
        ResultCode.INVALID_BUCKET_STATE,
        it.submit(Command.newBuilder().setModifyObject(append.setAppend(true))).getCode());
  }

  @Test
  void aBucketWithOnlyAMarkerIsNotEmpty() throws Exception {
    it.versioning(Versioning.VERSIONING_ENABLED);
    long marker = it.delete("k").getVersion();
    Command.Builder delete =
        Command.newBuilder().setDeleteBucket(DeleteBucket.newBuilder().setName(BUCKET));
    assertEquals(ResultCode.BUCKET_NOT_EMPTY, it.submit(delete).getCode());
    it.delete("k", ref(marker));
    it.accepted(document(3, "text"));
    long bucket = it.metadata().bucket(BUCKET).orElseThrow().getId();
    assertEquals(ResultCode.OK, it.submit(delete).getCode());
    it.table()
        .forEach(
            dev.ashlar.metadata.table.Keys.inBucket('C', bucket),
            (key, value) -> {
              throw new AssertionError("a document is left");
            });
  }

  private static Command.Builder document(int kind, String text) {
    return Command.newBuilder()
        .setPutBucketDocument(
            PutBucketDocument.newBuilder()
                .setBucket(BUCKET)
                .setKind(kind)
                .setDocument(ByteString.copyFromUtf8(text)));
  }

  @Test
  void aDocumentIsPutOnlyToABucketThatIsConfiguredAsExpected() throws Exception {
    it.accepted(document(3, "three"));
    long revision = it.metadata().bucket(BUCKET).orElseThrow().getConfigRevision();
    it.accepted(document(4, "four"));
    Command.Builder late = document(3, "late");
    late.getPutBucketDocumentBuilder().setExpectedRevision(revision);
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, it.submit(late).getCode());
    assertEquals(
        ByteString.copyFromUtf8("three"), it.metadata().documents(BUCKET, Set.of(3)).get(3));
    long present = it.metadata().bucket(BUCKET).orElseThrow().getConfigRevision();
    late.getPutBucketDocumentBuilder().setExpectedRevision(present);
    it.accepted(late);
  }

  @Test
  void documentsOfABucketArePutReadAndRemoved() throws Exception {
    it.accepted(document(3, "three"));
    it.accepted(document(31, "last"));
    it.restart();
    assertEquals(
        Map.of(3, ByteString.copyFromUtf8("three"), 31, ByteString.copyFromUtf8("last")),
        it.metadata().documents(BUCKET, Set.of(3, 4, 31)));
    long revision = it.metadata().bucket(BUCKET).orElseThrow().getConfigRevision();
    it.accepted(document(3, ""));
    assertEquals(Set.of(31), it.metadata().documents(BUCKET, Set.of(3, 31)).keySet());
    assertTrue(it.metadata().bucket(BUCKET).orElseThrow().getConfigRevision() > revision);
    assertEquals(ResultCode.INVALID_COMMAND, it.submit(document(32, "x")).getCode());
    assertEquals(
        ResultCode.LIMIT_EXCEEDED, it.submit(document(0, "x".repeat((64 << 10) + 1))).getCode());
  }

  @Test
  void aBucketCanHaveDocumentsFromTheStartOn() throws Exception {
    CreateBucket.Document policy = document(ByteString.copyFromUtf8("policy"));
    CreateBucket.Builder create = CreateBucket.newBuilder().setName("new").setOwner("owner");
    assertEquals(
        ResultCode.INVALID_COMMAND,
        it.submit(creation(create.clone().addDocuments(policy).addDocuments(policy))).getCode());
    assertEquals(
        ResultCode.INVALID_COMMAND,
        it.submit(creation(create.clone().addDocuments(document(ByteString.EMPTY)))).getCode());
    assertTrue(it.metadata().bucket("new").isEmpty());
    it.accepted(creation(create.addDocuments(policy)));
    it.restart();
    assertEquals(Map.of(3, policy.getDocument()), it.metadata().documents("new", Set.of(1, 3)));
    assertEquals(1 << 3, it.metadata().bucket("new").orElseThrow().getDocuments());
  }

  private static Command.Builder creation(CreateBucket.Builder create) {
    return Command.newBuilder().setCreateBucket(create);
  }

  private static CreateBucket.Document document(ByteString content) {
    return CreateBucket.Document.newBuilder().setKind(3).setDocument(content).build();
  }

  @Test
  void aConfigurationIsSentUnlessItIsKnown() throws Exception {
    it.accepted(document(3, "three"));
    BucketConfigQuery.Builder query = BucketConfigQuery.newBuilder().setBucket(BUCKET).addKinds(3);
    BucketConfigAnswer first = it.metadata().bucket(query.build(), null).config();
    assertEquals("three", first.getDocuments(0).getDocument().toStringUtf8());
    query.setKnownId(first.getBucket().getId());
    query.setKnownRevision(first.getBucket().getConfigRevision());
    KeyQuery key = KeyQuery.newBuilder().setBucket(BUCKET).setKey("none").build();
    for (BucketConfigAnswer known :
        List.of(
            it.metadata().bucket(query.build(), null).config(),
            it.metadata().object(key, query.build(), null).config())) {
      assertTrue(known.getUnchanged());
      assertEquals(first.getBucket(), known.getBucket());
      assertEquals(0, known.getDocumentsCount());
    }
    it.accepted(document(3, "other"));
    BucketConfigAnswer other = it.metadata().object(key, query.build(), null).config();
    assertFalse(other.getUnchanged());
    assertEquals("other", other.getDocuments(0).getDocument().toStringUtf8());
    query.setBucket("none");
    assertFalse(it.metadata().bucket(query.build(), null).config().hasBucket());
  }

  @Test
  void tagsChangeNeitherVersionNorTime() throws Exception {
    it.versioning(Versioning.VERSIONING_ENABLED);
    long first = it.put(it.object("k", 1).setFacts(tags("a"))).getVersion();
    long second = it.put("k", 2);
    long modified = record("k", first).getSummary().getLastModifiedMs();
    it.pass(Duration.ofHours(1));
    assertEquals(ResultCode.OK, it.set(it.facts("k", ref(first)).setTags(tags("b"))));
    assertEquals(ResultCode.OK, it.set(it.facts("k", null).setTags(tags("c"))));
    it.restart();
    assertEquals(tags("b"), record("k", first).getFacts());
    assertEquals(1, record("k", first).getFactsRevision());
    assertEquals(modified, record("k", first).getSummary().getLastModifiedMs());
    assertEquals(tags("c"), record("k", second).getFacts());
    it.set(it.facts("k", ref(first)).setTags(tags("").toBuilder().clearTags()));
    assertFalse(record("k", first).hasFacts());
    assertEquals(ResultCode.NO_SUCH_VERSION, it.set(it.facts("k", ref(9)).setTags(tags("d"))));
    long marker = it.delete("k").getVersion();
    assertEquals(
        ResultCode.IS_DELETE_MARKER, it.set(it.facts("k", ref(marker)).setTags(tags("d"))));
    assertEquals(ResultCode.NO_SUCH_KEY, it.set(it.facts("k", null).setTags(tags("d"))));
  }

  /** An append makes another version of a key that keeps its tags. */
  @Test
  void tagsStayWithAnObjectThatIsAppendedTo() throws Exception {
    it.put(it.object("k", 1).setFacts(tags("a")));
    BlobId id = new BlobId(it.metadata().session(), 77);
    it.accepted(
        Command.newBuilder()
            .setModifyObject(
                TestBlobs.modify(
                        BUCKET,
                        "k",
                        1,
                        List.of(TestBlobs.piece(TestBlobs.acknowledged(it.metadata(), id, 1))))
                    .setAppend(true)));
    ObjectRecord object = it.metadata().object(BUCKET, "k").orElseThrow().object();
    assertEquals(2, object.getSummary().getSize());
    assertEquals(tags("a"), object.getFacts());
    it.delete("k");
    assertEquals(0, it.rows());
  }

  @Test
  void aCopyNamesTheVersionItWasMadeFrom() throws Exception {
    it.versioning(Versioning.VERSIONING_ENABLED);
    long first = it.put("k", 1);
    it.put("k", 2);
    long marker = it.delete("k").getVersion();
    CopyObject.Builder copy =
        CopyObject.newBuilder()
            .setSourceBucket(BUCKET)
            .setSourceKey("k")
            .setBucket(BUCKET)
            .setKey("c");
    assertEquals(
        ResultCode.NO_SUCH_KEY, it.submit(Command.newBuilder().setCopyObject(copy)).getCode());
    assertEquals(
        ResultCode.NO_SUCH_KEY,
        it.submit(Command.newBuilder().setCopyObject(copy.setSourceVersion(marker))).getCode());
    it.accepted(Command.newBuilder().setCopyObject(copy.setSourceVersion(first)));
    assertEquals(1, it.size("c", null));
  }

  @Test
  void aRenamedObjectLeavesAMarker() throws Exception {
    it.versioning(Versioning.VERSIONING_ENABLED);
    it.put("to", 1);
    it.put(it.object("from", 2).setFacts(tags("a")));
    RenameObject.Builder rename =
        RenameObject.newBuilder().setBucket(BUCKET).setSourceKey("from").setKey("to");
    CommandResult result = it.accepted(Command.newBuilder().setRenameObject(rename));
    assertEquals(-1, it.size("from", ref(result.getSourceVersion())));
    assertEquals(tags("a"), record("to", result.getVersion()).getFacts());
    assertEquals(
        List.of("from id marker latest", "from id 2", "to id 2 latest", "to id 1"), listed());
    assertEquals(
        ResultCode.NO_SUCH_KEY, it.submit(Command.newBuilder().setRenameObject(rename)).getCode());
  }

  @Test
  void aRenameWithATokenCanBeRepeated() throws Exception {
    it.put("from", 2);
    RenameObject.Builder rename =
        RenameObject.newBuilder()
            .setBucket(BUCKET)
            .setSourceKey("from")
            .setKey("to")
            .setPrecondition(Precondition.newBuilder().setIfNoneMatch("*"))
            .setMark(
                RenameMark.newBuilder()
                    .setClientToken("token")
                    .setParameters(ByteString.copyFromUtf8("one")));
    long version = it.accepted(Command.newBuilder().setRenameObject(rename)).getVersion();
    it.put("from", 3);
    assertEquals(version, it.accepted(Command.newBuilder().setRenameObject(rename)).getVersion());
    assertEquals(2, it.size("to", null));
    assertEquals(3, it.size("from", null));
    rename.getMarkBuilder().setParameters(ByteString.copyFromUtf8("two"));
    assertEquals(
        ResultCode.TOKEN_REUSED, it.submit(Command.newBuilder().setRenameObject(rename)).getCode());
    rename.getMarkBuilder().setClientToken("another");
    assertEquals(
        ResultCode.PRECONDITION_FAILED,
        it.submit(Command.newBuilder().setRenameObject(rename)).getCode());
    // A copy, and what is renamed once more, is not what that rename has made.
    rename.clearPrecondition().setSourceKey("to").setKey("third").clearMark();
    it.accepted(Command.newBuilder().setRenameObject(rename));
    rename.setSourceKey("from").setKey("third");
    rename.getMarkBuilder().setClientToken("token").setParameters(ByteString.copyFromUtf8("one"));
    it.accepted(Command.newBuilder().setRenameObject(rename));
    assertEquals(3, it.size("third", null));
  }

  @Test
  void aPageGoesOnWhereTheOneBeforeEnded() throws Exception {
    it.versioning(Versioning.VERSIONING_ENABLED);
    it.put("a/1", 1);
    it.put("a/2", 2);
    it.delete("a/2");
    it.put("b", 3);
    it.put("b", 4);
    it.put("c", 5);
    List<VersionEntry> first =
        it.metadata().versions(new VersionsQuery(BUCKET, "", "/", "", null, 2)).entries();
    assertEquals("a/", first.get(0).getName());
    assertEquals("b id 4 latest", text(first.get(1)));
    VersionsQuery next =
        new VersionsQuery(BUCKET, "", "/", "b", VersionCommands.id(first.get(1)), 5);
    assertEquals(
        List.of("b id 3", "c id 5 latest"),
        it.metadata().versions(next).entries().stream().map(VersionsTest::text).toList());
    assertEquals(
        List.of("b id 4 latest", "b id 3", "c id 5 latest"),
        it.metadata().versions(new VersionsQuery(BUCKET, "", "/", "a/", null, 5)).entries().stream()
            .map(VersionsTest::text)
            .toList());
    assertEquals(
        List.of("a/2 id marker latest", "a/2 id 2"),
        it
            .metadata()
            .versions(new VersionsQuery(BUCKET, "a/", "", "a/1", null, 5))
            .entries()
            .stream()
            .map(VersionsTest::text)
            .toList());
  }

  @Test
  void aLockedVersionIsNotDeletedBeforeItsTime() throws Exception {
    it = VersionCommands.withLocks();
    ObjectLock lock = it.retention(ObjectLock.Mode.COMPLIANCE, Duration.ofDays(10));
    long version = it.put(it.object("k", 1).setLock(lock)).getVersion();
    assertEquals(ResultCode.OBJECT_LOCKED, deleted("k", version, false));
    assertEquals(ResultCode.OBJECT_LOCKED, deleted("k", version, true));
    long marker = it.delete("k").getVersion();
    assertEquals(ResultCode.OK, deleted("k", marker, false));
    it.pass(Duration.ofDays(10));
    assertEquals(ResultCode.OK, deleted("k", version, false));
  }

  private ResultCode deleted(String key, long version, boolean bypasses) throws Exception {
    return it.delete(
            DeleteTarget.newBuilder()
                .setKey(key)
                .setVersion(ref(version))
                .setBypassGovernance(bypasses))
        .getCode();
  }

  /** A proposer whose clock is ahead by years frees nothing, nor does one that is behind. */
  @Test
  void aClockThatIsAheadFreesNothing() throws Exception {
    it = VersionCommands.withLocks();
    ObjectLock lock = it.retention(ObjectLock.Mode.GOVERNANCE, Duration.ofDays(10));
    long version = it.put(it.object("k", 1).setLock(lock)).getVersion();
    Command delete =
        it.metadata()
            .completed(
                Command.newBuilder()
                    .setDeleteObjects(
                        DeleteObjects.newBuilder()
                            .setBucket(BUCKET)
                            .addTargets(
                                DeleteTarget.newBuilder().setKey("k").setVersion(ref(version)))));
    Command ahead =
        delete.toBuilder()
            .setTimeMs(it.nowMs() + Duration.ofDays(3650).toMillis())
            .setSteadyMs(it.nowMs())
            .build();
    assertEquals(
        ResultCode.OBJECT_LOCKED,
        it.metadata().applyAsIs(ahead).results().getFirst().getDeletes(0).getCode());
    assertEquals(ResultCode.OK, deleted("k", version, true));
  }

  @Test
  void aHoldIsIndependentOfRetention() throws Exception {
    it = VersionCommands.withLocks();
    long version = it.put("k", 1);
    assertEquals(ResultCode.OK, it.set(it.facts("k", null).setLegalHold(true)));
    assertEquals(ResultCode.OBJECT_LOCKED, deleted("k", version, true));
    it.set(it.facts("k", null).setLegalHold(false));
    assertEquals(
        ObjectLock.newBuilder().setLegalHoldTold(true).build(), record("k", version).getLock());
    assertEquals(ResultCode.OK, deleted("k", version, false));
  }

  @Test
  void aRetentionIsOnlyMadeStronger() throws Exception {
    it = VersionCommands.withLocks();
    ObjectLock governance = it.retention(ObjectLock.Mode.GOVERNANCE, Duration.ofDays(10));
    it.put(it.object("k", 1).setLock(governance));
    ObjectLock shorter = it.retention(ObjectLock.Mode.GOVERNANCE, Duration.ofDays(9));
    assertEquals(ResultCode.OBJECT_LOCKED, it.set(it.facts("k", null).setRetention(shorter)));
    assertEquals(
        ResultCode.OK, it.set(it.facts("k", null).setRetention(shorter).setBypassGovernance(true)));
    ObjectLock compliance = it.retention(ObjectLock.Mode.COMPLIANCE, Duration.ofDays(9));
    assertEquals(ResultCode.OBJECT_LOCKED, it.set(it.facts("k", null).setRetention(compliance)));
    assertEquals(
        ResultCode.OK,
        it.set(it.facts("k", null).setRetention(compliance).setBypassGovernance(true)));
    for (ObjectLock weaker : List.of(governance, ObjectLock.getDefaultInstance())) {
      assertEquals(
          ResultCode.OBJECT_LOCKED,
          it.set(it.facts("k", null).setRetention(weaker).setBypassGovernance(true)));
    }
    ObjectLock longer = it.retention(ObjectLock.Mode.COMPLIANCE, Duration.ofDays(11));
    assertEquals(ResultCode.OK, it.set(it.facts("k", null).setRetention(longer)));
    it.pass(Duration.ofDays(12));
    assertEquals(
        ResultCode.OK, it.set(it.facts("k", null).setRetention(ObjectLock.getDefaultInstance())));
  }

  @Test
  void theDefaultRetentionAppliesWhereNothingElseIsAskedFor() throws Exception {
    it = VersionCommands.withLocks();
    DefaultRetention retention =
        DefaultRetention.newBuilder().setMode(ObjectLock.Mode.GOVERNANCE).setYears(1).build();
    SetBucketLock.Builder lock =
        SetBucketLock.newBuilder().setBucket(BUCKET).setRetention(retention);
    it.accepted(Command.newBuilder().setSetBucketLock(lock));
    long version = it.put("k", 1);
    assertEquals(
        it.retention(ObjectLock.Mode.GOVERNANCE, Duration.ofDays(365)),
        record("k", version).getLock());
    ObjectLock own = it.retention(ObjectLock.Mode.COMPLIANCE, Duration.ofDays(1));
    long second = it.put(it.object("k", 1).setLock(own)).getVersion();
    assertEquals(own, record("k", second).getLock());
    it.accepted(Command.newBuilder().setSetBucketLock(lock.clearRetention()));
    assertFalse(record("k", it.put("k", 3)).hasLock());
    it.submit(
        Command.newBuilder()
            .setSetBucketLock(
                lock.setRetention(DefaultRetention.newBuilder().setDays(1).setYears(1))));
    assertFalse(it.metadata().bucket(BUCKET).orElseThrow().hasRetention());
  }

  @Test
  void locksNeedVersioningAndKeepItEnabled() throws Exception {
    Command.Builder lock =
        Command.newBuilder().setSetBucketLock(SetBucketLock.newBuilder().setBucket(BUCKET));
    assertEquals(ResultCode.INVALID_BUCKET_STATE, it.submit(lock).getCode());
    ObjectLock asked = it.retention(ObjectLock.Mode.GOVERNANCE, Duration.ofDays(1));
    Command.Builder put = Command.newBuilder().setPutObject(it.object("k", 1).setLock(asked));
    assertEquals(ResultCode.INVALID_BUCKET_STATE, it.submit(put).getCode());
    it.versioning(Versioning.VERSIONING_ENABLED);
    assertEquals(ResultCode.OK, it.submit(lock).getCode());
    assertEquals(ResultCode.INVALID_BUCKET_STATE, it.versioning(Versioning.VERSIONING_SUSPENDED));
    assertEquals(ResultCode.INVALID_COMMAND, it.versioning(Versioning.VERSIONING_OFF));
  }

  /** The fields and rules of version 5 have no effect while version 4 is in use. */
  @Test
  void version4InUseKnowsNothingOfVersion5() throws Exception {
    MemoryMetadata older = MemoryMetadata.withDrives(4, new Profile(2, 1, 16384), 3, 2);
    older.require(
        Command.newBuilder()
            .setCreateBucket(
                CreateBucket.newBuilder()
                    .setName(BUCKET)
                    .setOwner("me")
                    .addDocuments(
                        CreateBucket.Document.newBuilder()
                            .setKind(1)
                            .setDocument(ByteString.copyFromUtf8("x")))));
    assertEquals(0, older.bucket(BUCKET).orElseThrow().getDocuments());
    RenameObject.Builder rename =
        RenameObject.newBuilder()
            .setBucket(BUCKET)
            .setSourceKey("k")
            .setKey("l")
            .setMark(RenameMark.newBuilder().setClientToken("token"));
    for (int i = 1; i <= 2; i++) {
      BlobId id = new BlobId(older.session(), i);
      older.require(TestBlobs.put(BUCKET, "k", TestBlobs.acknowledged(older, id, 1)));
      older.require(Command.newBuilder().setRenameObject(rename));
    }
    assertEquals(
        ResultCode.NO_SUCH_KEY,
        older.submit(Command.newBuilder().setRenameObject(rename)).getCode());
    older.require(
        Command.newBuilder()
            .setCreateBucket(
                CreateBucket.newBuilder().setName("locked").setOwner("me").setLock(true)));
    BlobId id = new BlobId(older.session(), 3);
    older.require(TestBlobs.put("locked", "k", TestBlobs.acknowledged(older, id, 1)));
    older.require(
        Command.newBuilder()
            .setSetObjectFacts(
                SetObjectFacts.newBuilder().setBucket("locked").setKey("k").setLegalHold(false)));
    assertFalse(older.object("locked", "k").orElseThrow().object().getLock().getLegalHoldTold());
  }

  /** The commands and fields of version 4 have no effect while version 3 is in use. */
  @Test
  void anOlderVersionInUseKnowsNoneOfIt() throws Exception {
    MemoryMetadata older =
        MemoryMetadata.withDrives(
            MetadataVersion.KEEPS_VERSIONS - 1, new Profile(2, 1, 16384), 3, 2);
    older.require(TestBlobs.createBucket(BUCKET));
    BlobId id = new BlobId(older.session(), 1);
    older.require(
        Command.newBuilder()
            .setPutObject(
                TestBlobs.put(BUCKET, "k", TestBlobs.acknowledged(older, id, 1))
                    .getPutObjectBuilder()
                    .setFacts(tags("a"))
                    .setLock(it.retention(ObjectLock.Mode.COMPLIANCE, Duration.ofDays(1)))));
    ObjectRecord object = older.object(BUCKET, "k").orElseThrow().object();
    assertFalse(object.hasFacts() || object.hasLock());
    for (Command.Builder command :
        List.of(
            Command.newBuilder()
                .setSetBucketVersioning(
                    SetBucketVersioning.newBuilder()
                        .setBucket(BUCKET)
                        .setVersioning(Versioning.VERSIONING_ENABLED)),
            Command.newBuilder().setSetBucketLock(SetBucketLock.newBuilder().setBucket(BUCKET)),
            Command.newBuilder().setSetObjectFacts(it.facts("k", null).setTags(tags("a"))),
            Command.newBuilder()
                .setRenameObject(
                    RenameObject.newBuilder().setBucket(BUCKET).setSourceKey("k").setKey("l")),
            document(1, "x"))) {
      assertEquals(ResultCode.INVALID_COMMAND, older.submit(command).getCode());
    }
    older.require(
        Command.newBuilder()
            .setDeleteObjects(
                DeleteObjects.newBuilder()
                    .setBucket(BUCKET)
                    .addTargets(DeleteTarget.newBuilder().setKey("k"))));
    assertEquals(1, older.list(new ListQuery(BUCKET, "", "", "", 10)).entries().size());
  }
}
