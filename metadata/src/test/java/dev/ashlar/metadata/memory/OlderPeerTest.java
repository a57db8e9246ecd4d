package dev.ashlar.metadata.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import com.google.protobuf.ByteString;
import dev.ashlar.protocol.client.AccessRead;
import dev.ashlar.protocol.client.BucketsQuery;
import dev.ashlar.protocol.client.VersionRead;
import dev.ashlar.protocol.message.BucketConfigQuery;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.KeyQuery;
import dev.ashlar.protocol.message.PutBucketDocument;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A gateway of this build whose metadata peers are of the build before, as during an upgrade. */
class OlderPeerTest {
  private static final String BUCKET = "bkt";

  private final MemoryMetadata metadata = MemoryMetadata.withDrives(new Profile(2, 1, 16384), 3, 2);

  @BeforeEach
  void storeSomething() throws Exception {
    metadata.require(TestBlobs.createBucket(BUCKET));
    BlobId blob = new BlobId(metadata.session(), 1);
    metadata.require(TestBlobs.put(BUCKET, "k", TestBlobs.acknowledged(metadata, blob, 1)));
    metadata.require(
        Command.newBuilder()
            .setPutBucketDocument(
                PutBucketDocument.newBuilder()
                    .setBucket(BUCKET)
                    .setKind(1)
                    .setDocument(ByteString.copyFromUtf8("document"))));
    metadata.require(TestBlobs.createBucket("plain"));
  }

  private static BucketConfigQuery config(String bucket) {
    return BucketConfigQuery.newBuilder().setBucket(bucket).addKinds(0).addKinds(1).build();
  }

  @Test
  void readsForDecisionsAreAsFromPeersOfThisBuild() throws Exception {
    KeyQuery key = KeyQuery.newBuilder().setBucket(BUCKET).setKey("k").build();
    AccessRead object = metadata.object(key, config(BUCKET), null);
    AccessRead plain = metadata.bucket(config("plain"), null);
    AccessRead absent = metadata.bucket(config("absent"), null);
    metadata.answerAsOlder();
    AccessRead now = metadata.object(key, config(BUCKET), null);
    assertEquals(object, now);
    assertEquals(1, now.config().getDocumentsCount());
    assertInstanceOf(VersionRead.Content.class, now.found());
    assertEquals(plain, metadata.bucket(config("plain"), null));
    assertEquals(absent, metadata.bucket(config("absent"), null));
    assertFalse(metadata.bucket(config("absent"), null).config().hasBucket());
  }

  @Test
  void bucketsAreFilteredHere() throws Exception {
    metadata.answerAsOlder();
    String owner = metadata.bucket("plain").orElseThrow().getOwner();
    List<String> names =
        metadata.buckets(new BucketsQuery(owner, "", "", "bkt", 10)).stream()
            .map(BucketRow::getName)
            .toList();
    assertEquals(List.of("plain"), names);
  }
}
