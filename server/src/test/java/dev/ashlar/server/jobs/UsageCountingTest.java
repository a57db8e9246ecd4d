package dev.ashlar.server.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.message.UsageRow;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.util.List;
import org.junit.jupiter.api.Test;

class UsageCountingTest {
  private static final int OBJECTS = 1_500; // more than one command counts

  private final MemoryMetadata metadata =
      MemoryMetadata.withDrives(MetadataVersion.KEEPS_VERSIONS - 1, new Profile(2, 1, 16384), 3, 2);
  private final UsageCounting counting = new UsageCounting(metadata);

  private void put(String bucket, int key) {
    BlobId id = new BlobId(metadata.session(), 10_000L * bucket.charAt(0) + key);
    metadata.require(TestBlobs.put(bucket, "k" + key, TestBlobs.acknowledged(metadata, id, 10)));
  }

  @Test
  void bucketsFromBeforeAreCountedOnceTheVersionIsInUse() throws Exception {
    for (String bucket : List.of("a", "b")) {
      metadata.require(TestBlobs.createBucket(bucket));
      put(bucket, 0);
    }
    for (int key = 1; key < OBJECTS; key++) {
      put("b", key);
    }
    assertFalse(counting.run());
    assertTrue(metadata.bucketUsage("a").isEmpty());
    metadata.raiseVersion();
    int rounds = 0;
    while (counting.run()) {
      rounds++;
    }
    assertTrue(rounds >= 2, () -> "counted at once");
    for (String bucket : List.of("a", "b")) {
      UsageRow usage = metadata.bucketUsage(bucket).orElseThrow();
      assertTrue(usage.getComplete());
      assertEquals(bucket.equals("a") ? 1 : OBJECTS, usage.getObjects());
    }
    assertEquals(10 * (OBJECTS + 1), metadata.accountUsage("me").orElseThrow().getBytes());
    assertFalse(counting.run());
  }

  @Test
  void aStoreWithoutBucketsIsDoneAtOnce() throws Exception {
    metadata.raiseVersion();
    assertFalse(counting.run());
  }
}
