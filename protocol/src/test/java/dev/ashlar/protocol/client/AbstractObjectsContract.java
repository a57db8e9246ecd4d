package dev.ashlar.protocol.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.message.AttemptIdValue;
import dev.ashlar.protocol.message.BlobChange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.DeleteBucket;
import dev.ashlar.protocol.message.EndSessions;
import dev.ashlar.protocol.message.FoldBlob;
import dev.ashlar.protocol.message.ForgetBlobs;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectAttributes;
import dev.ashlar.protocol.message.ObjectPiece;
import dev.ashlar.protocol.message.Precondition;
import dev.ashlar.protocol.message.PutCredential;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.BlobId;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What every {@link MetadataClient} does with buckets, objects and blobs. */
abstract class AbstractObjectsContract extends AbstractFreshMetadata {
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

  private List<String> buckets(String prefix, String region, String after, int max)
      throws Exception {
    return client.buckets(new BucketsQuery("you", prefix, region, after, max)).stream()
        .map(bucket -> bucket.getName())
        .toList();
  }

  @Test
  void someBucketsOfAnOwnerAreListed() throws Exception {
    for (String name : List.of("a", "ca", "cb", "cc", "d")) {
      ok(Command.newBuilder().setCreateBucket(bucket(name, "you")));
    }
    ok(Command.newBuilder().setCreateBucket(bucket("cbb", "me")));
    assertEquals(List.of("a", "ca", "cb", "cc", "d"), buckets("", "", "", 10));
    assertEquals(List.of("ca", "cb", "cc"), buckets("c", "", "", 3));
    assertEquals(List.of("ca", "cb"), buckets("c", "eu", "a", 2));
    assertEquals(List.of("cc"), buckets("c", "", "cb", 2));
    assertEquals(List.of(), buckets("c", "", "d", 2));
    assertEquals(List.of(), buckets("", "us", "", 2));
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
    assertEquals(Set.of(last), client.neededShards(firstDrive(blobs[11]), List.of(unknown, last)));
  }

  /** Which has a shard of the blob. */
  private UUID firstDrive(NewBlob blob) {
    return client.placement().drive(blob.getPg(), 0);
  }

  @Test
  void onlyItsDrivesNeedABlobsShards() throws Exception {
    NewBlob blob = blob(10).build();
    ok(put("k", blob));
    List<BlobId> name = List.of(BlobId.of(blob.getId()));
    for (UUID drive : client.drives().keySet()) {
      boolean isOne = client.placement().slotDrives().get(blob.getPg()).contains(drive);
      assertEquals(isOne ? Set.copyOf(name) : Set.of(), client.neededShards(drive, name));
    }
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
    List<BlobId> names = List.of(BlobId.of(dead.getId()), BlobId.of(live.getId()));
    assertEquals(Set.of(names.getLast()), client.neededShards(firstDrive(live), names));
    assertEquals(Set.of(), client.neededShards(firstDrive(dead), names.subList(0, 1)));
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
    int shards = client.placement().standard().profile().shards();
    int losable = shards - client.placement().standard().profile().durableMinimum();
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
    int pg = client.placement().group(BlobId.of(old.getId())).orElseThrow();
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
                AttemptIdValue.newBuilder().setSession(client.session()).setSequence(sequence++))
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
}
