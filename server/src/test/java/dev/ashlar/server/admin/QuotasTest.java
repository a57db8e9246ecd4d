package dev.ashlar.server.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.PutAccount;
import dev.ashlar.protocol.message.Quota;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QuotasTest {
  private final MemoryMetadata metadata = MemoryMetadata.withDrives(new Profile(2, 1, 16384), 3, 2);
  private final Quotas quotas = new Quotas(metadata);

  @BeforeEach
  void putObject() throws Exception {
    metadata.require(TestBlobs.createBucket("b"));
    BlobId id = new BlobId(metadata.session(), 1);
    metadata.require(TestBlobs.put("b", "k", TestBlobs.acknowledged(metadata, id, 10)));
  }

  @Test
  void bucketsAreShownWithTheirLimits() throws Exception {
    Quotas.BucketUsage before = quotas.buckets().getFirst();
    assertEquals(10, before.bytes());
    assertEquals(1, before.objects());
    assertNull(before.quotaBytes());
    Quotas.BucketUsage after = quotas.ofBucket("b", "1KiB,5");
    assertEquals(1024, after.quotaBytes());
    assertEquals(5, after.quotaObjects());
    assertEquals(List.of(after), quotas.buckets());
    assertEquals(
        Quota.newBuilder().setBytesMax(1024).setObjectsMax(5).build(),
        metadata.bucket("b").orElseThrow().getQuota());
    assertNull(quotas.ofBucket("b", "-,7").quotaBytes());
    assertNull(quotas.ofBucket("b", "-,-").quotaObjects());
    assertEquals(false, metadata.bucket("b").orElseThrow().hasQuota());
  }

  @Test
  void accountsAreNamedByTheirIds() throws Exception {
    assertEquals("", quotas.accounts().getFirst().account());
    assertEquals(3, quotas.ofAccount("me", "-,3").quotaObjects(), "an owner without an account");
    AccountRow row =
        AccountRow.newBuilder()
            .setId("123456789012")
            .setCanonicalId("a".repeat(64))
            .setName("someone")
            .build();
    metadata.require(Command.newBuilder().setPutAccount(PutAccount.newBuilder().setAccount(row)));
    assertEquals(20, quotas.ofAccount("123456789012", "20,-").quotaBytes());
    assertEquals(20, metadata.accountUsage("a".repeat(64)).orElseThrow().getQuota().getBytesMax());
    assertThrows(Admin.RefusedException.class, () -> quotas.ofAccount("123456789013", "1,1"));
    assertThrows(Admin.RefusedException.class, () -> quotas.ofAccount("nobody", "1,1"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1", "1,2,3", "0,1", "1,0", "-1,1", "many,1", "1,"})
  void limitsThatAreNone(String limits) {
    assertThrows(Admin.RefusedException.class, () -> quotas.ofBucket("b", limits));
    assertThrows(Admin.RefusedException.class, () -> quotas.ofBucket("none", "1,1"));
  }
}
