package dev.ashlar.it.cost;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Metrics;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.model.Profile;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;

/** What objects and ranges cost on the drives, by the server's own counters. */
class IoCostIT {
  private static final String READ_OPS = "ashlar_drive_read_ops_total";
  private static final String READ_BYTES = "ashlar_drive_read_bytes_total";
  private static final String WRITE_OPS = "ashlar_drive_write_ops_total";
  private static final String WRITE_BYTES = "ashlar_drive_write_bytes_total";
  private static final String LIVE_BYTES = "ashlar_drive_live_bytes";

  /** Fixed part of a record's header, and the header of its batch; checksums come on top. */
  private static final int HEADER_BYTES_MAX = 64;

  private static final int BLOCK = 4096;

  private final ServerProcess server = ServerProcess.start(ServerSpec.named("cost"));
  private final S3Client s3 = Clients.sync(server);
  private final String bucket = Buckets.create(s3, "cost");
  private final Profile profile = Profile.parse("4+2", server.spec().stripeUnit());
  private final long seed = Seeds.seed("IoCostIT");

  @AfterAll
  void close() {
    s3.close();
    server.close();
  }

  /** DESIGN's arithmetic, at most one header per shard, 4 bytes per 4 KiB; from 0 to 3 stripes. */
  @Test
  void bytesOnDrivesAreTheArithmetic() {
    int unit = profile.stripeUnit();
    int stripe = profile.stripeBytes();
    TreeSet<Integer> lengths = new TreeSet<>(java.util.List.of(0, 1, 100, 4095, 4096, 4097, 5120));
    for (int boundary = unit; boundary <= 3 * stripe; boundary += unit) {
      lengths.addAll(java.util.List.of(boundary - 1, boundary, boundary + 1));
    }
    lengths.removeIf(length -> length > 3 * stripe);
    SplittableRandom random = new SplittableRandom(seed);
    random.ints(20, 0, 3 * stripe).forEach(lengths::add);
    lengths.forEach(this::assertCost);
  }

  private void assertCost(int length) {
    StripeLayout layout = new StripeLayout(profile, length);
    long arithmetic = layout.storedBytes();
    long overhead = 0;
    for (int slot = 0; slot < profile.shards(); slot++) {
      long shard = layout.shardLength(slot);
      overhead += shard == 0 ? 0 : HEADER_BYTES_MAX + 4 * Math.ceilDiv(shard, BLOCK);
    }
    Metrics before = Metrics.of(server);
    put("n" + length, new Content(seed, length));
    Metrics after = Metrics.of(server);
    long live = after.since(before, LIVE_BYTES);
    String what = length + " bytes took " + live + ", arithmetic " + arithmetic;
    assertTrue(live >= arithmetic && live <= arithmetic + overhead, what);
    long rounding = after.since(before, WRITE_BYTES) - live;
    long batches = after.since(before, WRITE_OPS);
    assertTrue(rounding <= batches * (BLOCK + HEADER_BYTES_MAX), what + ", rounded by " + rounding);
    assertTrue(batches <= profile.shards(), what + " in " + batches + " batches");
  }

  @Test
  void rangeOfFourKibibytesIsOneReadOfOneDrive() {
    byte[] bytes = new Content(seed + 1, 10 << 20).bytes();
    s3.putObject(b -> b.bucket(bucket).key("large"), RequestBody.fromBytes(bytes));
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 50; i++) {
      int unit = profile.stripeUnit();
      int strip = random.nextInt(bytes.length / unit);
      int first = strip * unit + random.nextInt(unit - BLOCK + 1);
      assertReads(bytes, first, BLOCK, 1, 2 * BLOCK);
    }
    assertReads(bytes, 5 * BLOCK, BLOCK, 1, BLOCK); // aligned: exactly its block
    assertReads(bytes, profile.stripeUnit() - 2, 4, 2, 2 * BLOCK); // across two strips
  }

  private void assertReads(byte[] bytes, int first, int length, int ops, int bytesMax) {
    Metrics before = Metrics.of(server);
    int last = first + length - 1;
    byte[] got =
        s3.getObjectAsBytes(b -> b.bucket(bucket).key("large").range("bytes=" + first + "-" + last))
            .asByteArrayUnsafe();
    Metrics after = Metrics.of(server);
    assertArrayEquals(Arrays.copyOfRange(bytes, first, last + 1), got);
    String where = "range " + first + "+" + length;
    assertEquals(ops, after.since(before, READ_OPS), where);
    assertTrue(after.since(before, READ_BYTES) <= bytesMax, where);
  }

  /** A read of everything reads every data shard once and no parity. */
  @Test
  void wholeReadTouchesNoParity() {
    int length = 3 * profile.stripeBytes() + 5;
    put("whole", new Content(seed, length));
    Metrics before = Metrics.of(server);
    s3.getObjectAsBytes(b -> b.bucket(bucket).key("whole"));
    Metrics after = Metrics.of(server);
    long read = after.since(before, READ_BYTES);
    assertTrue(read >= length && read <= length + BLOCK, "read " + read + " of " + length);
  }

  /** Heads, listings, copies and refused conditions move no data. */
  @Test
  void metadataOperationsReadNothing() {
    put("meta", new Content(seed, 100_000));
    Metrics before = Metrics.of(server);
    s3.headObject(b -> b.bucket(bucket).key("meta"));
    s3.listObjectsV2(b -> b.bucket(bucket));
    s3.copyObject(
        b ->
            b.sourceBucket(bucket).sourceKey("meta").destinationBucket(bucket).destinationKey("c"));
    Metrics after = Metrics.of(server);
    assertEquals(0, after.since(before, READ_OPS));
    assertEquals(0, after.since(before, WRITE_OPS));
  }

  private void put(String key, Content content) {
    s3.putObject(b -> b.bucket(bucket).key(key), RequestBody.fromBytes(content.bytes()));
  }
}
