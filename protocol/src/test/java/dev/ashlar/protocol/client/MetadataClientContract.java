package dev.ashlar.protocol.client;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.message.AbortUpload;
import dev.ashlar.protocol.message.AttemptKey;
import dev.ashlar.protocol.message.BlobChange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CompletePart;
import dev.ashlar.protocol.message.CompleteUpload;
import dev.ashlar.protocol.message.CopyObject;
import dev.ashlar.protocol.message.CopyPart;
import dev.ashlar.protocol.message.CreateBucket;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.DeleteBucket;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.EndSessions;
import dev.ashlar.protocol.message.FoldBlob;
import dev.ashlar.protocol.message.ForgetBlobs;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectAttributes;
import dev.ashlar.protocol.message.ObjectPiece;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.PartSummary;
import dev.ashlar.protocol.message.Precondition;
import dev.ashlar.protocol.message.PutCredential;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.PutPart;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What every {@link MetadataClient} does. */
public abstract class MetadataClientContract {
  private static final long PART = 5L << 20;

  private MetadataClient client;
  private long sequence;

  /** A fresh one, with a placement map installed. */
  protected abstract MetadataClient newClient() throws Exception;

  protected abstract void closeClient() throws Exception;

  @BeforeEach
  void openClient() throws Exception {
    client = newClient();
    ok(Command.newBuilder().setCreateBucket(bucket("b", "me")));
  }

  @AfterEach
  void close() throws Exception {
    closeClient();
  }

  private static CreateBucket.Builder bucket(String name, String owner) {
    return CreateBucket.newBuilder().setName(name).setOwner(owner).setRegion("eu");
  }

  private CommandResult ok(Command.Builder command) throws MetadataUnavailableException {
    CommandResult result = client.submit(command);
    assertEquals(ResultCode.OK, result.getCode());
    return result;
  }

  private void refused(ResultCode code, Command.Builder command)
      throws MetadataUnavailableException {
    assertEquals(code, client.submit(command).getCode());
  }

  /** A blob that all of its slots have acknowledged. */
  private NewBlob.Builder blob(long length) {
    BlobId id = new BlobId(client.session(), sequence++);
    PlacementMap map = client.placement();
    int pg = id.placementGroup(map.pgCount());
    NewBlob.Builder blob =
        NewBlob.newBuilder()
            .setId(id.toMessage())
            .setLength(length)
            .setProfile(map.profile().toMessage())
            .setPg(pg)
            .setEpoch(map.epoch());
    return blob.addAllAcks(acks(pg));
  }

  private List<SlotAck> acks(int pg) {
    PlacementMap map = client.placement();
    List<SlotAck> acks = new ArrayList<>();
    for (int slot = 0; slot < map.profile().shards(); slot++) {
      UUID drive = map.drive(pg, slot);
      DriveId present = requireNonNull(client.drives().get(drive));
      acks.add(
          SlotAck.newBuilder()
              .setSlot(slot)
              .setDriveHigh(drive.getMostSignificantBits())
              .setDriveLow(drive.getLeastSignificantBits())
              .setIncarnation(present.incarnation())
              .build());
    }
    return acks;
  }

  private Command.Builder put(String key, NewBlob... blobs) {
    long size = 0;
    for (NewBlob blob : blobs) {
      size += blob.getLength();
    }
    return Command.newBuilder()
        .setPutObject(
            PutObject.newBuilder()
                .setBucket("b")
                .setKey(key)
                .setSummary(ObjectSummary.newBuilder().setSize(size).setEtag("e" + key))
                .addAllBlobs(List.of(blobs)));
  }

  private Command.Builder put(String key) {
    return put(key, blob(10).build());
  }

  private Command.Builder put(String key, Precondition.Builder condition) {
    Command.Builder command = put(key);
    command.getPutObjectBuilder().setPrecondition(condition);
    return command;
  }

  private static Command.Builder delete(String... keys) {
    return Command.newBuilder()
        .setDeleteObjects(DeleteObjects.newBuilder().setBucket("b").addAllKeys(List.of(keys)));
  }

  private static Command.Builder copy(String from, long version, String to) {
    return Command.newBuilder()
        .setCopyObject(
            CopyObject.newBuilder()
                .setSourceBucket("b")
                .setSourceKey(from)
                .setSourceVersion(version)
                .setBucket("b")
                .setKey(to)
                .setSummary(ObjectSummary.newBuilder().setEtag("copy")));
  }

  private ObjectRead object(String key) throws MetadataUnavailableException {
    return client.object("b", key).orElseThrow();
  }

  @Test
  void bucketsAreMadeOnceAndListedByName() throws Exception {
    refused(
        ResultCode.BUCKET_ALREADY_OWNED_BY_YOU,
        Command.newBuilder().setCreateBucket(bucket("b", "me")));
    refused(
        ResultCode.BUCKET_ALREADY_EXISTS, Command.newBuilder().setCreateBucket(bucket("b", "you")));
    ok(Command.newBuilder().setCreateBucket(bucket("a", "you")));
    assertEquals(List.of("a", "b"), client.buckets().stream().map(b -> b.getName()).toList());
    assertEquals("eu", client.bucket("a").orElseThrow().getRegion());
    assertNotEquals(0, client.bucket("a").orElseThrow().getCreatedAtMs());
    assertTrue(client.bucket("c").isEmpty());
  }

  @Test
  void onlyAnEmptyBucketIsDeleted() throws Exception {
    Command.Builder deletion =
        Command.newBuilder().setDeleteBucket(DeleteBucket.newBuilder().setName("b"));
    ok(put("k"));
    refused(ResultCode.BUCKET_NOT_EMPTY, deletion.clone());
    ok(delete("k"));
    startUpload("u", "1");
    putPart("u", "1", 1, blob(7).build());
    ok(deletion.clone());
    refused(ResultCode.NO_SUCH_BUCKET, deletion.clone());
    assertEquals(2, client.garbage(Long.MAX_VALUE, null, 10).size());
    ok(Command.newBuilder().setCreateBucket(bucket("b", "me")));
    assertTrue(client.object("b", "k").isEmpty());
    assertTrue(client.upload("b", "u", "1").isEmpty());
  }

  @Test
  void anObjectIsReadWithItsBlobs() throws Exception {
    NewBlob blob = blob(100_000).build();
    Command.Builder command = put("k", blob);
    command
        .getPutObjectBuilder()
        .setAttributes(ObjectAttributes.newBuilder().putUserMetadata("x", "y".repeat(2000)));
    CommandResult result = ok(command);
    ObjectRead read = object("k");
    assertEquals(result.getVersion(), read.object().getVersion());
    assertEquals(result.getLastModifiedMs(), read.object().getSummary().getLastModifiedMs());
    assertEquals("y".repeat(2000), read.object().getAttributes().getUserMetadataOrThrow("x"));
    assertEquals(blob.getId(), read.object().getSlices(0).getBlob());
    assertEquals(100_000, read.object().getSlices(0).getLength());
    assertEquals(List.of(blob.getId()), read.blobs().stream().map(b -> b.getId()).toList());
    assertEquals(1, read.blobs().getFirst().getReferences());
    assertTrue(client.object("b", "other").isEmpty());
    assertTrue(client.object("other", "k").isEmpty());
  }

  @Test
  void anEmptyObjectHasNoBlob() throws Exception {
    ok(put("empty", new NewBlob[0]));
    assertEquals(0, object("empty").object().getSlicesCount());
    assertEquals(List.of(), object("empty").blobs());
  }

  @Test
  void anObjectOfManyBlobsNamesTheFirstAndFindsTheOthers() throws Exception {
    NewBlob[] blobs = new NewBlob[12];
    for (int i = 0; i < blobs.length; i++) {
      blobs[i] = blob(1000 + i).build();
    }
    ok(put("k", blobs));
    ObjectRead read = object("k");
    assertEquals(12, read.object().getSlicesCount());
    assertEquals(ObjectRead.BLOBS_MAX, read.blobs().size());
    BlobId last = BlobId.of(blobs[11].getId());
    BlobId unknown = new BlobId(client.session(), 1_000_000);
    assertEquals(1011, client.blobs(List.of(unknown, last)).getFirst().getLength());
    assertEquals(Set.of(last), client.known(new UUID(0, 1), List.of(unknown, last)));
  }

  @Test
  void overwritingAndDeletingMakeGarbage() throws Exception {
    ok(put("k"));
    long first = object("k").object().getVersion();
    ok(put("k"));
    assertNotEquals(first, object("k").object().getVersion());
    assertEquals(1, client.garbage(Long.MAX_VALUE, null, 10).size());
    assertEquals(List.of("k"), ok(delete("k", "absent")).getDeletedKeysList());
    assertTrue(client.object("b", "k").isEmpty());
    assertEquals(2, client.garbage(Long.MAX_VALUE, null, 10).size());
    assertEquals(1, client.garbage(Long.MAX_VALUE, null, 1).size());
    assertEquals(0, client.garbage(0, null, 10).size());
    List<BlobRow> both = client.garbage(Long.MAX_VALUE, null, 2);
    assertEquals(both.subList(1, 2), client.garbage(Long.MAX_VALUE, both.getFirst(), 10));
    assertEquals(List.of(), client.garbage(Long.MAX_VALUE, both.getLast(), 10));
    assertEquals(List.of(), client.garbage(1, both.getLast(), 10));
  }

  @Test
  void onlyUnreferencedBlobsAreForgotten() throws Exception {
    NewBlob dead = blob(10).build();
    NewBlob live = blob(10).build();
    ok(put("k", dead));
    ok(put("k", live));
    ok(
        Command.newBuilder()
            .setForgetBlobs(
                ForgetBlobs.newBuilder().addBlobs(dead.getId()).addBlobs(live.getId())));
    assertEquals(
        Set.of(BlobId.of(live.getId())),
        client.known(new UUID(0, 1), List.of(BlobId.of(dead.getId()), BlobId.of(live.getId()))));
    assertEquals(List.of(), client.garbage(Long.MAX_VALUE, null, 10));
  }

  @Test
  void aCopySharesBlobsUntilTheLastReferenceGoes() throws Exception {
    ok(put("k"));
    long version = object("k").object().getVersion();
    refused(ResultCode.CONDITIONAL_CONFLICT, copy("k", version + 1, "c"));
    refused(ResultCode.NO_SUCH_KEY, copy("absent", version, "c"));
    ok(copy("k", version, "c"));
    ObjectRead read = object("c");
    assertEquals(10, read.object().getSummary().getSize());
    assertEquals("copy", read.object().getSummary().getEtag());
    assertEquals(2, read.blobs().getFirst().getReferences());
    ok(delete("k"));
    assertEquals(List.of(), client.garbage(Long.MAX_VALUE, null, 10));
    ok(copy("c", 0, "c"));
    assertEquals(1, object("c").blobs().getFirst().getReferences());
    ok(delete("c"));
    assertEquals(1, client.garbage(Long.MAX_VALUE, null, 10).size());
  }

  @Test
  void preconditionsAreCheckedWhenApplied() throws Exception {
    refused(ResultCode.NO_SUCH_KEY, put("k", Precondition.newBuilder().setIfMatch("x")));
    ok(put("k", Precondition.newBuilder().setIfNoneMatch("*")));
    refused(
        ResultCode.PRECONDITION_FAILED, put("k", Precondition.newBuilder().setIfNoneMatch("*")));
    refused(ResultCode.PRECONDITION_FAILED, put("k", Precondition.newBuilder().setIfMatch("x")));
    ok(put("k", Precondition.newBuilder().setIfMatch("ek")));
    ok(put("k", Precondition.newBuilder().setIfMatch("*")));
    long version = object("k").object().getVersion();
    refused(
        ResultCode.PRECONDITION_FAILED,
        put("k", Precondition.newBuilder().setIfVersion(version + 1)));
    ok(put("k", Precondition.newBuilder().setIfVersion(version)));
  }

  @Test
  void aBlobThatTooFewDrivesHoldIsNotCommitted() throws Exception {
    int shards = client.placement().profile().shards();
    int losable = shards - client.placement().profile().durableMinimum();
    NewBlob.Builder fewer = blob(1 << 20);
    for (int i = 0; i < losable; i++) {
      fewer.removeAcks(0);
    }
    ok(put("k", fewer.build()));
    assertEquals(losable, object("k").blobs().getFirst().getDebtSlotsCount());
    NewBlob.Builder tooFew = blob(1 << 20);
    for (int i = 0; i <= losable; i++) {
      tooFew.removeAcks(0);
    }
    refused(ResultCode.NOT_DURABLE, put("k2", tooFew.build()));
    assertTrue(client.object("b", "k2").isEmpty());
  }

  @Test
  void whatADeadSessionWroteIsNotCommitted() throws Exception {
    NewBlob old = blob(10).setId(new BlobId(client.session() - 1, 7).toMessage()).build();
    int pg = BlobId.of(old.getId()).placementGroup(client.placement().pgCount());
    refused(ResultCode.DEAD_SESSION, put("k", old.toBuilder().setPg(pg).build()));
    ok(
        Command.newBuilder()
            .setEndSessions(EndSessions.newBuilder().setBelow(client.session() + 1)));
    refused(ResultCode.STALE_REQUEST, put("k"));
  }

  /** Acknowledged by all slots. */
  private Command.Builder append(String key, long length) throws MetadataUnavailableException {
    BlobRow row = object(key).blobs().getFirst();
    BlobChange change =
        BlobChange.newBuilder()
            .setBlob(row.getId())
            .setBaseRevision(row.getRevision())
            .setBaseLength(row.getLength())
            .setAttempt(
                AttemptKey.newBuilder().setSession(client.session()).setSequence(sequence++))
            .setOffset(row.getLength())
            .setLength(length)
            .setEpoch(client.placement().epoch())
            .addAllAcks(acks(row.getPg()))
            .build();
    return Command.newBuilder()
        .setModifyObject(
            ModifyObject.newBuilder()
                .setBucket("b")
                .setKey(key)
                .setAppend(true)
                .setOffset(row.getLength())
                .setLength(length)
                .addPieces(ObjectPiece.newBuilder().setChange(change)));
  }

  @Test
  void aChangeIsUnfoldedUntilItIsFolded() throws Exception {
    ok(put("k"));
    ok(put("l"));
    assertEquals(List.of(), client.unfolded(null, 10));
    Command.Builder first = append("k", 5);
    Command.Builder second = append("k", 5);
    CommandResult result = ok(first);
    assertEquals(15, result.getSize());
    assertEquals(result.getEtag(), object("k").object().getSummary().getEtag());
    refused(ResultCode.INVALID_OFFSET, second);
    ok(append("l", 7));
    BlobRow k = object("k").blobs().getFirst();
    BlobRow l = object("l").blobs().getFirst();
    assertEquals(15, k.getLength());
    assertEquals(1, k.getRevision());
    assertEquals(List.of(k, l), client.unfolded(null, 10));
    assertEquals(List.of(k), client.unfolded(null, 1));
    assertEquals(List.of(l), client.unfolded(BlobId.of(k.getId()), 1));
    FoldBlob fold =
        FoldBlob.newBuilder().setBlob(k.getId()).setRevision(1).addAllAcks(acks(k.getPg())).build();
    ok(Command.newBuilder().setFoldBlob(fold));
    assertEquals(0, object("k").blobs().getFirst().getAttemptsCount());
    assertEquals(List.of(l), client.unfolded(null, 10));
    ok(delete("l"));
    assertEquals(List.of(), client.unfolded(null, 10));
  }

  @Test
  void credentialsAreReplaced() throws Exception {
    CredentialRow.Builder row = CredentialRow.newBuilder().setAccessKey("a").setSecretKey("s");
    ok(Command.newBuilder().setPutCredential(PutCredential.newBuilder().setCredential(row)));
    row.setSecretKey("t");
    ok(Command.newBuilder().setPutCredential(PutCredential.newBuilder().setCredential(row)));
    assertEquals("t", client.credential("a").orElseThrow().getSecretKey());
    assertTrue(client.credential("b").isEmpty());
  }

  private List<String> names(String prefix, String delimiter, String after, int max)
      throws MetadataUnavailableException {
    return client.list(new ListQuery("b", prefix, delimiter, after, max)).entries().stream()
        .map(ListPage.Entry::name)
        .toList();
  }

  @Test
  void listingRollsUpAndPages() throws Exception {
    for (String key : List.of("a", "a/b", "a/c", "a/d/e", "b\u0000c", "b", "é", "z//y", "z/")) {
      ok(put(key));
    }
    assertEquals(
        List.of("a", "a/b", "a/c", "a/d/e", "b", "b\u0000c", "z/", "z//y", "é"),
        names("", "", "", 1000));
    assertEquals(List.of("a", "a/", "b", "b\u0000c", "z/", "é"), names("", "/", "", 1000));
    assertEquals(List.of("b", "b\u0000c"), names("", "/", "a/", 2));
    assertEquals(List.of("a/b", "a/c", "a/d/"), names("a/", "/", "", 1000));
    assertEquals(List.of("a/c"), names("a/", "", "a/b", 1));
    assertEquals(List.of("b\u0000c"), names("b", "", "b", 10));
    assertTrue(client.list(new ListQuery("b", "", "/", "", 5)).truncated());
    assertFalse(client.list(new ListQuery("b", "", "/", "", 6)).truncated());
    assertEquals(List.of(), names("", "", "", 0));
    assertFalse(client.list(new ListQuery("b", "", "", "", 0)).truncated());
  }

  private void startUpload(String key, String id) throws MetadataUnavailableException {
    ok(
        Command.newBuilder()
            .setCreateUpload(
                CreateUpload.newBuilder()
                    .setUpload(
                        UploadRow.newBuilder()
                            .setBucket("b")
                            .setKey(key)
                            .setUploadId(id)
                            .setOwner("me")
                            .setAttributes(
                                ObjectAttributes.newBuilder().putHeaders("content-type", "x/y")))));
  }

  private long putPart(String key, String id, int number, NewBlob blob)
      throws MetadataUnavailableException {
    return ok(Command.newBuilder()
            .setPutPart(
                PutPart.newBuilder()
                    .setBucket("b")
                    .setKey(key)
                    .setUploadId(id)
                    .setPart(PartRow.newBuilder().setNumber(number).setSize(blob.getLength()))
                    .addBlobs(blob)))
        .getVersion();
  }

  private static Command.Builder complete(String key, String id, CompletePart... parts) {
    return Command.newBuilder()
        .setCompleteUpload(
            CompleteUpload.newBuilder()
                .setBucket("b")
                .setKey(key)
                .setUploadId(id)
                .setEtag("many-2")
                .addAllParts(List.of(parts)));
  }

  private static CompletePart named(int number, long token) {
    return CompletePart.newBuilder().setNumber(number).setToken(token).build();
  }

  @Test
  void anUploadBecomesAnObject() throws Exception {
    startUpload("k", "1");
    long replaced = putPart("k", "1", 1, blob(PART).build());
    long first = putPart("k", "1", 1, blob(PART).build());
    long unused = putPart("k", "1", 2, blob(PART).build());
    long last = putPart("k", "1", 7, blob(3).build());
    assertEquals(1, client.garbage(Long.MAX_VALUE, null, 10).size());
    assertEquals(
        List.of(2, 7),
        client.parts("b", "k", "1", 1, 10).stream().map(p -> p.getNumber()).toList());
    assertEquals(unused, client.parts("b", "k", "1", 1, 1).getFirst().getToken());
    refused(ResultCode.INVALID_PART, complete("k", "1", named(1, replaced), named(7, last)));
    refused(ResultCode.INVALID_PART, complete("k", "1", named(1, first), named(3, last)));
    refused(ResultCode.INVALID_PART, complete("k", "1"));
    refused(ResultCode.NO_SUCH_UPLOAD, complete("k", "2", named(1, first)));
    ok(complete("k", "1", named(1, first), named(7, last)));
    ObjectRecord object = object("k").object();
    assertEquals(PART + 3, object.getSummary().getSize());
    assertEquals(2, object.getSummary().getPartCount());
    assertEquals("many-2", object.getSummary().getEtag());
    assertEquals("me", object.getSummary().getOwner());
    assertEquals("x/y", object.getAttributes().getHeadersOrThrow("content-type"));
    assertEquals(
        List.of(1, 7), object.getPartsList().stream().map(PartSummary::getNumber).toList());
    assertEquals(2, object.getSlicesCount());
    assertEquals(2, client.garbage(Long.MAX_VALUE, null, 10).size());
    assertTrue(client.upload("b", "k", "1").isEmpty());
    assertEquals(List.of(), client.parts("b", "k", "1", 0, 10));
  }

  @Test
  void aSmallPartMayOnlyBeTheLast() throws Exception {
    startUpload("k", "1");
    long small = putPart("k", "1", 1, blob(PART - 1).build());
    long last = putPart("k", "1", 2, blob(3).build());
    refused(ResultCode.ENTITY_TOO_SMALL, complete("k", "1", named(1, small), named(2, last)));
    ok(complete("k", "1", named(1, small)));
  }

  @Test
  void aCopiedPartRefersToARangeOfItsSource() throws Exception {
    ok(put("k", blob(100).build(), blob(200).build()));
    startUpload("u", "1");
    CopyPart.Builder copy =
        CopyPart.newBuilder()
            .setBucket("b")
            .setKey("u")
            .setUploadId("1")
            .setPart(PartRow.newBuilder().setNumber(1))
            .setSourceBucket("b")
            .setSourceKey("k")
            .setSourceVersion(object("k").object().getVersion())
            .setSourceOffset(90)
            .setSourceLength(20);
    ok(Command.newBuilder().setCopyPart(copy));
    PartRow part = client.parts("b", "u", "1", 0, 10).getFirst();
    assertEquals(20, part.getSize());
    assertEquals(List.of(90L, 0L), part.getSlicesList().stream().map(s -> s.getOffset()).toList());
    assertEquals(List.of(10L, 10L), part.getSlicesList().stream().map(s -> s.getLength()).toList());
    refused(
        ResultCode.INVALID_RANGE,
        Command.newBuilder().setCopyPart(copy.clone().setSourceLength(211)));
    ok(delete("k"));
    assertEquals(List.of(), client.garbage(Long.MAX_VALUE, null, 10));
    ok(
        Command.newBuilder()
            .setAbortUpload(AbortUpload.newBuilder().setBucket("b").setKey("u").setUploadId("1")));
    assertEquals(2, client.garbage(Long.MAX_VALUE, null, 10).size());
  }

  @Test
  void uploadsAreListedByKeyThenId() throws Exception {
    startUpload("x/1", "b");
    startUpload("x/1", "a");
    startUpload("x/2", "c");
    startUpload("y", "d");
    UploadsPage page = client.uploads(new UploadsQuery("b", "", "", "x/1", "a", 2));
    assertEquals(List.of("b", "c"), page.uploads().stream().map(u -> u.getUploadId()).toList());
    assertTrue(page.truncated());
    page = client.uploads(new UploadsQuery("b", "", "", "x/1", "", 10));
    assertEquals(List.of("c", "d"), page.uploads().stream().map(u -> u.getUploadId()).toList());
    page = client.uploads(new UploadsQuery("b", "", "/", "", "", 10));
    assertEquals(List.of("x/"), page.commonPrefixes());
    assertEquals(List.of("d"), page.uploads().stream().map(u -> u.getUploadId()).toList());
    assertFalse(page.truncated());
  }
}
