package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.object.VersionCommands.BUCKET;
import static dev.ashlar.metadata.state.object.VersionCommands.ref;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.state.SeededRuns;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CompletePart;
import dev.ashlar.protocol.message.CompleteUpload;
import dev.ashlar.protocol.message.CountUsage;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.DeleteBucket;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.PutPart;
import dev.ashlar.protocol.message.Quota;
import dev.ashlar.protocol.message.RenameObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetAccountQuota;
import dev.ashlar.protocol.message.SetBucketQuota;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.message.UsageRow;
import dev.ashlar.protocol.message.Versioning;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.time.Clock;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Usage and quotas of buckets and accounts. */
class QuotasTest {
  private static final int UNCOUNTED_OBJECTS = 2_500;

  private final VersionCommands it = VersionCommands.withBucket();

  private void bucketQuota(long bytes, long objects) throws Exception {
    it.accepted(
        Command.newBuilder()
            .setSetBucketQuota(
                SetBucketQuota.newBuilder()
                    .setBucket(BUCKET)
                    .setQuota(Quota.newBuilder().setBytesMax(bytes).setObjectsMax(objects))));
  }

  private ResultCode tried(String key, long size) throws Exception {
    return it.submit(Command.newBuilder().setPutObject(it.object(key, size))).getCode();
  }

  private UsageRow usage() throws Exception {
    return it.metadata().bucketUsage(BUCKET).orElseThrow();
  }

  @Test
  void aQuotaOfBytesIsFilledExactlyAndNotExceeded() throws Exception {
    bucketQuota(100, 0);
    assertEquals(ResultCode.OK, tried("a", 60));
    assertEquals(ResultCode.QUOTA_EXCEEDED, tried("b", 41));
    assertEquals(ResultCode.OK, tried("b", 40));
    assertEquals(ResultCode.OK, tried("a", 60), "it replaces as much");
    assertEquals(ResultCode.QUOTA_EXCEEDED, tried("a", 61));
    assertEquals(100, usage().getBytes());
    it.delete("a");
    assertEquals(ResultCode.OK, tried("c", 60));
  }

  @Test
  void aQuotaOfObjectsCountsVersionsAndMarkers() throws Exception {
    it.versioning(Versioning.VERSIONING_ENABLED);
    bucketQuota(0, 3);
    long first = it.put("k", 1);
    it.put("k", 1);
    it.delete("k");
    assertEquals(3, usage().getObjects());
    assertEquals(ResultCode.QUOTA_EXCEEDED, tried("k", 1));
    it.delete("k"); // deleting is always possible
    it.delete("k", ref(first));
    assertEquals(ResultCode.QUOTA_EXCEEDED, tried("k", 1));
    assertEquals(3, usage().getObjects());
  }

  @Test
  void aQuotaOfAnAccountLimitsItsBucketsTogether() throws Exception {
    it.accepted(TestBlobs.createBucket("other"));
    it.accepted(
        Command.newBuilder()
            .setSetAccountQuota(
                SetAccountQuota.newBuilder()
                    .setOwner("me")
                    .setQuota(Quota.newBuilder().setBytesMax(10))));
    it.restart();
    assertEquals(ResultCode.OK, tried("k", 6));
    BlobId id = new BlobId(it.metadata().session(), 99);
    Command.Builder put = TestBlobs.put("other", "k", TestBlobs.acknowledged(it.metadata(), id, 5));
    assertEquals(ResultCode.QUOTA_EXCEEDED, it.submit(put).getCode());
    it.accepted(
        Command.newBuilder().setSetAccountQuota(SetAccountQuota.newBuilder().setOwner("me")));
    it.accepted(put);
    assertEquals(11, it.metadata().accountUsage("me").orElseThrow().getBytes());
    assertTrue(it.metadata().accountUsage("you").isEmpty());
  }

  @Test
  void partsCountUntilTheyAreAbortedOrCompleted() throws Exception {
    bucketQuota(12L << 20, 0);
    UploadRow upload =
        UploadRow.newBuilder().setBucket(BUCKET).setKey("k").setUploadId("u").build();
    it.accepted(Command.newBuilder().setCreateUpload(CreateUpload.newBuilder().setUpload(upload)));
    assertEquals(ResultCode.OK, part(1, 6L << 20));
    assertEquals(ResultCode.OK, part(1, 7L << 20));
    assertEquals(ResultCode.QUOTA_EXCEEDED, part(2, 6L << 20));
    assertEquals(ResultCode.OK, part(2, 5L << 20));
    assertEquals(12L << 20, usage().getUploadBytes());
    CompleteUpload.Builder complete =
        CompleteUpload.newBuilder().setBucket(BUCKET).setKey("k").setUploadId("u");
    PartRow first = it.metadata().parts(BUCKET, "k", "u", 0, 1).getFirst();
    complete.addParts(CompletePart.newBuilder().setNumber(1).setToken(first.getToken()));
    it.accepted(Command.newBuilder().setCompleteUpload(complete));
    assertEquals(7L << 20, usage().getBytes());
    assertEquals(0, usage().getUploadBytes());
    assertEquals(1, usage().getObjects());
  }

  private ResultCode part(int number, long size) throws Exception {
    BlobId id = new BlobId(it.metadata().session(), 1000 + size + number);
    return it.submit(
            Command.newBuilder()
                .setPutPart(
                    PutPart.newBuilder()
                        .setBucket(BUCKET)
                        .setKey("k")
                        .setUploadId("u")
                        .setPart(PartRow.newBuilder().setNumber(number).setSize(size))
                        .addBlobs(TestBlobs.acknowledged(it.metadata(), id, size))))
        .getCode();
  }

  @Test
  void anObjectIsRenamedInAFullBucket() throws Exception {
    bucketQuota(10, 1);
    it.put("a", 10);
    it.accepted(
        Command.newBuilder()
            .setRenameObject(
                RenameObject.newBuilder().setBucket(BUCKET).setSourceKey("a").setKey("b")));
    assertEquals(10, usage().getBytes());
    assertEquals(1, usage().getObjects());
  }

  @Test
  void theUsageOfADeletedBucketIsForgotten() throws Exception {
    it.put("k", 5);
    it.delete("k");
    it.accepted(Command.newBuilder().setDeleteBucket(DeleteBucket.newBuilder().setName(BUCKET)));
    assertTrue(it.metadata().bucketUsage(BUCKET).isEmpty());
    assertTrue(it.metadata().accountUsage("me").isEmpty());
  }

  /** A bucket from before usage was counted is counted in pages, while it changes. */
  @Test
  void aBucketFromBeforeIsCountedWhileItChanges() {
    SeededRuns.repeat(3, this::countWhileItChanges);
  }

  private void countWhileItChanges(long seed) throws Exception {
    Random random = new Random(seed);
    MemoryMetadata older =
        MemoryMetadata.withDrives(
            MetadataVersion.KEEPS_VERSIONS - 1, new Profile(2, 1, 16384), 3, 2);
    older.require(TestBlobs.createBucket(BUCKET));
    for (int i = 0; i < UNCOUNTED_OBJECTS; i++) {
      put(older, i, 1);
    }
    MemoryMetadata now =
        new MemoryMetadata(older.table(), Clock.systemUTC(), VersionCommands.VERSION);
    long sequence = 0;
    put(now, 7, sequence++);
    assertTrue(now.bucketUsage(BUCKET).isEmpty());
    UsageRow usage = UsageRow.getDefaultInstance();
    for (int page = 0; !usage.getComplete(); page++) {
      assertTrue(page < 10);
      now.require(Command.newBuilder().setCountUsage(CountUsage.newBuilder().setBucket(BUCKET)));
      for (int i = 0; i < 50; i++) {
        int key = random.nextInt(UNCOUNTED_OBJECTS + 100);
        if (random.nextBoolean()) {
          put(now, key, sequence++);
        } else {
          now.require(TestBlobs.delete(BUCKET, name(key)));
        }
      }
      usage = now.bucketUsage(BUCKET).orElseThrow();
    }
    List<Long> sizes = sizes(now);
    assertEquals(sizes.size(), usage.getObjects());
    assertEquals(sizes.stream().mapToLong(size -> size).sum(), usage.getBytes());
    assertFalse(usage.getCountedTo().size() > 0);
    assertEquals(usage.getBytes(), now.accountUsage("me").orElseThrow().getBytes());
  }

  private static String name(int key) {
    return "k" + key;
  }

  private static void put(MemoryMetadata metadata, int key, long sequence) {
    BlobId id = new BlobId(metadata.session(), sequence * 10_000 + key);
    metadata.require(
        TestBlobs.put(BUCKET, name(key), TestBlobs.acknowledged(metadata, id, 1 + key)));
  }

  private static List<Long> sizes(MemoryMetadata metadata) {
    return metadata.table().rows('O', dev.ashlar.protocol.message.ObjectRow.parser()).stream()
        .map(row -> row.getSummary().getSize())
        .toList();
  }
}
