package dev.ashlar.server.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.blob.repair.GroupDebts;
import dev.ashlar.blob.scrub.ShardVerification;
import dev.ashlar.gateway.encryption.key.KeyWrapping;
import dev.ashlar.gateway.encryption.key.KmsKeys;
import dev.ashlar.gateway.encryption.key.MasterKeys;
import dev.ashlar.gateway.principal.SecretSeals;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.server.account.Accounts;
import dev.ashlar.server.admin.Admin;
import dev.ashlar.server.admin.Locator;
import dev.ashlar.server.jobs.KeyRenewal;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Of 4+2. */
class FailureToleranceTest {
  /** Until a node counts as down. */
  private static final Duration NOTICED = Duration.ofSeconds(18);

  private static void assertTolerance(int drives, int nodes, BalancedCluster cluster)
      throws MetadataUnavailableException {
    FailureTolerance expected = new FailureTolerance(drives, nodes);
    assertEquals(expected, cluster.admin.state().failureTolerance());
    assertEquals(expected, cluster.admin.status().failureTolerance());
  }

  @Test
  void eachNodeThatIsDownIsOneLess() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 2);
    assertTolerance(2, 2, cluster);
    cluster.fallSilent("node-1");
    cluster.pass(NOTICED);
    assertTolerance(1, 1, cluster);
    cluster.fallSilent("node-2");
    cluster.pass(NOTICED);
    assertTolerance(0, 0, cluster);
    cluster.fallSilent("node-3");
    cluster.pass(NOTICED);
    assertTolerance(-1, -1, cluster);
    cluster.speakAgain("node-1");
    cluster.pass(Duration.ofSeconds(2));
    assertTolerance(0, 0, cluster);
  }

  @Test
  void aNodeCountsForAllSlotsThatItHasOfAGroup() throws Exception {
    BalancedCluster cluster = new BalancedCluster(3, 2);
    assertTolerance(2, 1, cluster);
    cluster.join("node-1", 1); // without its second drive
    assertTolerance(1, 0, cluster);
  }

  @Test
  void whatBlobsOweIsLess() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    cluster.metadata.require(TestBlobs.createBucket("b"));
    BlobId blob = new BlobId(cluster.metadata.session(), 1);
    cluster.metadata.require(
        TestBlobs.put(
            "b",
            "k",
            TestBlobs.acknowledged(cluster.metadata, blob, BalancedCluster.PROFILE.stripeBytes())
                .removeAcks(1)));
    assertTolerance(1, 1, cluster);
  }

  @Test
  void whatWasOnADriveThatIsDownIsLessUntilItIsMadeAnew() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    cluster.fallSilent("node-1");
    cluster.pass(BalancedCluster.OUT_AFTER.plus(NOTICED));
    assertEquals(DriveStanding.STANDING_OUT, cluster.standing("node-1"));
    assertEquals(0, cluster.slots("node-1"));
    assertTolerance(1, 1, cluster);
    cluster.settle();
    assertTolerance(2, 2, cluster);
  }

  @Test
  void aStoreInOneProcessHasDrivesOnly() throws Exception {
    MemoryMetadata metadata = MemoryMetadata.withDrives(BalancedCluster.PROFILE, 7, 14);
    Set<UUID> missing = new HashSet<>();
    GroupDebts debts = new GroupDebts(metadata, new ManualClock(1), new SimpleMeterRegistry());
    Admin admin =
        new Admin(
            metadata,
            null,
            debts,
            new Admin.DriveKnowledge() {
              @Override
              public boolean hasFailed(UUID drive) {
                return false;
              }

              @Override
              public boolean isMissing(UUID drive) {
                return missing.contains(drive);
              }
            },
            new Accounts(metadata, "0".repeat(32), "ROOT", SecretSeals.NONE),
            new Locator(metadata, (row, slot) -> ShardVerification.State.VERIFIED),
            new KeyRenewal(
                metadata,
                new KeyWrapping(
                    MasterKeys.NONE, KmsKeys.NONE, new SecureRandom(), new SimpleMeterRegistry())),
            profile -> {},
            () -> null);
    assertEquals(new FailureTolerance(2, null), admin.state().failureTolerance());
    missing.add(new UUID(0, 3));
    assertEquals(new FailureTolerance(1, null), admin.state().failureTolerance());
    assertEquals(1, admin.status().drives().down());
  }

  @Test
  void itIsMeasured() {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    AtomicReference<FailureTolerance> now = new AtomicReference<>();
    FailureTolerance.measure(now::get, meters);
    assertGauges(Double.NaN, Double.NaN, meters);
    now.set(new FailureTolerance(2, 1));
    assertGauges(2, 1, meters);
    now.set(new FailureTolerance(-1, null));
    assertGauges(-1, Double.NaN, meters);
  }

  private static void assertGauges(double drives, double nodes, SimpleMeterRegistry meters) {
    assertEquals(drives, gauge("drives", meters));
    assertEquals(nodes, gauge("nodes", meters));
  }

  private static double gauge(String of, SimpleMeterRegistry meters) {
    return meters.get("ashlar.cluster.failure.tolerance").tag("of", of).gauge().value();
  }
}
