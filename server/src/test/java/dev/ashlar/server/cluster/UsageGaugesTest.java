package dev.ashlar.server.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.Quota;
import dev.ashlar.protocol.message.SetBucketQuota;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

class UsageGaugesTest {
  private final MemoryMetadata metadata = MemoryMetadata.withDrives(new Profile(2, 1, 16384), 3, 2);
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final UsageGauges gauges = new UsageGauges(metadata, meters);

  private double value(String name, String label, String of) {
    return meters.get(name).tag(label, of).gauge().value();
  }

  @Test
  void sumsAndLimitsAreShownByTheProcessWhoseTurnItIs() throws Exception {
    metadata.require(TestBlobs.createBucket("a"));
    metadata.require(TestBlobs.createBucket("b"));
    for (String bucket : new String[] {"a", "b"}) {
      BlobId id = new BlobId(metadata.session(), bucket.charAt(0));
      metadata.require(TestBlobs.put(bucket, "k", TestBlobs.acknowledged(metadata, id, 10)));
    }
    metadata.require(
        Command.newBuilder()
            .setSetBucketQuota(
                SetBucketQuota.newBuilder()
                    .setBucket("b")
                    .setQuota(Quota.newBuilder().setBytesMax(100))));
    gauges.refresh();
    assertEquals(10, value("ashlar.bucket.used.bytes", "bucket", "a"));
    assertEquals(0, value("ashlar.bucket.quota.bytes", "bucket", "a"));
    assertEquals(100, value("ashlar.bucket.quota.bytes", "bucket", "b"));
    assertEquals(20, value("ashlar.account.used.bytes", "account", "me"));
    assertEquals(2, value("ashlar.account.objects", "account", "me"));
    gauges.clear();
    assertTrue(meters.getMeters().isEmpty());
  }
}
