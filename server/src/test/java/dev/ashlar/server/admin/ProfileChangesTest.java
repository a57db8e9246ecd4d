package dev.ashlar.server.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.FailureDomain;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.server.cluster.BalancedCluster;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Profiles of a cluster that was made with 4+2. */
class ProfileChangesTest {
  private static Admin.Done change(BalancedCluster cluster, String name, String target, String by)
      throws Exception {
    return (Admin.Done) Objects.requireNonNull(cluster.admin.change(name, target, by));
  }

  private static void assertRefused(
      String why, BalancedCluster cluster, String name, String target, String by) {
    Admin.RefusedException refusal =
        assertThrows(Admin.RefusedException.class, () -> change(cluster, name, target, by));
    assertTrue(String.valueOf(refusal.getMessage()).contains(why), refusal.getMessage());
  }

  private static List<String> names(BalancedCluster cluster) throws Exception {
    return cluster.admin.status().profiles().stream()
        .map(ProfileChanges.ProfileInfo::name)
        .toList();
  }

  @Test
  void profilesAreAddedListedAndRemoved() throws Exception {
    BalancedCluster cluster = new BalancedCluster(12, 1);
    assertEquals(List.of("FIRST"), names(cluster));
    assertEquals(2, change(cluster, "profile-add", "COLD", "8+3").epoch());
    change(cluster, "profile-add", "HOT", "1+2@4096");
    change(cluster, "profile-default", "COLD", "");
    assertEquals(
        List.of(
            new ProfileChanges.ProfileInfo("FIRST", "4+2", 16384, false, "node", 60),
            new ProfileChanges.ProfileInfo("COLD", "8+3", 16384, true, "node", 2048),
            new ProfileChanges.ProfileInfo("HOT", "1+2", 4096, false, "node", 2048)),
        cluster.admin.view("profiles", "", ""));
    assertEquals("8+3", cluster.admin.status().profile());
    assertRefused("in use", cluster, "profile-remove", "COLD", "");
    assertRefused("in use", cluster, "profile-remove", "STANDARD", "");
    change(cluster, "profile-remove", "HOT", "");
    assertEquals(List.of("FIRST", "COLD"), names(cluster));
    change(cluster, "profile-default", "FIRST", "");
    assertEquals("4+2", cluster.admin.status().profile());
  }

  @Test
  void bucketsHaveClassesOfTheirOwn() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    change(cluster, "profile-add", "HOT", "1+2");
    cluster.metadata.require(TestBlobs.createBucket("b"));
    change(cluster, "bucket-class", "b", "HOT");
    assertEquals("HOT", cluster.metadata.bucket("b").orElseThrow().getStorageClass());
    assertRefused("no profile COLD", cluster, "bucket-class", "b", "COLD");
    assertRefused("no such bucket", cluster, "bucket-class", "none", "HOT");
    assertRefused("in use", cluster, "profile-remove", "HOT", "");
    change(cluster, "bucket-class", "b", "STANDARD");
    change(cluster, "profile-remove", "HOT", "");
  }

  @Test
  void whatCannotBeIsRefusedWithAReason() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    assertRefused("COLD 8+3 needs 11 drives, there are 8", cluster, "profile-add", "COLD", "8+3");
    assertRefused("expected k+m", cluster, "profile-add", "COLD", "8");
    assertRefused("stripe unit", cluster, "profile-add", "COLD", "2+1@1000");
    assertRefused("m has to be at least 1", cluster, "profile-add", "COLD", "4+0");
    assertRefused("A-Z", cluster, "profile-add", "cold", "2+1");
    assertRefused("A-Z", cluster, "profile-add", "STANDARD", "2+1");
    change(cluster, "profile-add", "COLD", "2+1");
    assertRefused("of this name", cluster, "profile-add", "COLD", "2+1");
    assertRefused("no profile HOT", cluster, "profile-remove", "HOT", "");
    assertRefused("no profile HOT", cluster, "profile-default", "HOT", "");
  }

  /** It was added by a process with more memory. */
  @Test
  void theDefaultMustFitIntoTheMemoryOfTheProcessThatIsAsked() throws Exception {
    BalancedCluster cluster = new BalancedCluster(12, 1);
    change(cluster, "profile-add", "COLD", "8+3");
    ProfileChanges small =
        new ProfileChanges(
            cluster.metadata,
            profile -> {
              if (profile.dataShards() > 4) {
                throw new IllegalArgumentException("too little memory");
              }
            });
    Admin.RefusedException refusal =
        assertThrows(Admin.RefusedException.class, () -> small.setDefault("COLD"));
    assertEquals("too little memory", refusal.getMessage());
    assertEquals(0, cluster.map().standardNumber());
    assertEquals(3, small.setDefault("FIRST").epoch());
  }

  @Test
  void noneIsAddedWhileANodeOfAnEarlierVersionIsUp() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    cluster.joinAsOlder("node-3");
    assertRefused("node-3 run an earlier version", cluster, "profile-add", "HOT", "1+2");
    cluster.join("node-3");
    change(cluster, "profile-add", "HOT", "1+2");
  }

  /** As in the first second of a new cluster, whose peers have not asked each other yet. */
  @Test
  void metadataIsGivenTimeToAgreeOnItsVersion() throws Exception {
    MemoryMetadata metadata =
        MemoryMetadata.withDrives(MetadataVersion.FIRST, new Profile(2, 1, 4096), 3, 2);
    int[] pauses = {0};
    ProfileChanges changes =
        new ProfileChanges(
            metadata,
            profile -> {},
            () -> {
              if (++pauses[0] == 3) {
                metadata.raiseVersion();
              }
            });
    assertEquals(2, changes.add("HOT", "1+2").epoch());
    assertEquals(3, pauses[0]);
  }

  @Test
  void metadataThatStaysOldIsNotWaitedForLong() {
    ProfileChanges changes =
        new ProfileChanges(
            MemoryMetadata.withDrives(MetadataVersion.FIRST, new Profile(2, 1, 4096), 3, 2),
            profile -> {},
            () -> {});
    Admin.RefusedException refusal =
        assertThrows(Admin.RefusedException.class, () -> changes.add("HOT", "1+2"));
    assertTrue(
        String.valueOf(refusal.getMessage()).contains("upgrade them first"), refusal::toString);
  }

  @Test
  void theProfileThatHasTooFewDrivesIsNamed() throws Exception {
    BalancedCluster cluster = new BalancedCluster(11, 1);
    change(cluster, "profile-add", "COLD", "8+3");
    Admin.RefusedException refusal =
        assertThrows(
            Admin.RefusedException.class,
            () -> cluster.stand("node-1", DriveStanding.STANDING_DRAINING));
    assertEquals(
        "too few drives would be left: COLD 8+3 needs 11 drives, there are 10",
        refusal.getMessage());
  }

  /** A drive that is down for long leaves the groups of all profiles; a new one joins them. */
  @Test
  void slotsMoveInAllProfiles() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    change(cluster, "profile-add", "HOT", "1+2");
    cluster.join("node-8");
    cluster.pass(Duration.ofSeconds(30));
    for (PlacedProfile placed : cluster.map().present()) {
      assertTrue(
          cluster.map().slotCounts(placed).containsKey(BalancedCluster.drive("node-8", 0)),
          placed::toString);
    }
    cluster.fallSilent("node-2");
    cluster.pass(BalancedCluster.OUT_AFTER.plusMinutes(1));
    assertEquals(0, cluster.slots(BalancedCluster.drive("node-2", 0)));
    assertEquals(DriveStanding.STANDING_OUT, cluster.standing("node-2"));
    assertEquals(FailureDomain.DOMAIN_NODE, cluster.map().standard().failureDomain());
  }

  /** What the weakest profile has lost with two nodes cannot be rebuilt elsewhere. */
  @Test
  void noMoreNodesAreTakenOutThanTheWeakestProfileCanLose() throws Exception {
    BalancedCluster cluster = new BalancedCluster(9, 1);
    change(cluster, "profile-add", "WEAK", "1+1");
    cluster.fallSilent("node-1", "node-2");
    cluster.pass(BalancedCluster.OUT_AFTER.plusMinutes(1));
    assertEquals(DriveStanding.STANDING_IN, cluster.standing("node-1"));
    cluster.speakAgain("node-2");
    cluster.pass(BalancedCluster.OUT_AFTER.plusMinutes(1));
    assertEquals(DriveStanding.STANDING_OUT, cluster.standing("node-1"));
  }

  /** 8+3 survives three losses, 4+2 two, 1+1 one. */
  @Test
  void theWeakestProfileSaysWhatTheStoreSurvives() throws Exception {
    BalancedCluster cluster = new BalancedCluster(12, 1);
    change(cluster, "profile-add", "COLD", "8+3");
    assertEquals(2, cluster.admin.status().failureTolerance().drives());
    change(cluster, "profile-add", "WEAK", "1+1");
    assertEquals(1, cluster.admin.status().failureTolerance().drives());
    cluster.fallSilent("node-1");
    cluster.passUnseen(Duration.ofSeconds(30));
    assertEquals(0, cluster.admin.status().failureTolerance().drives());
    assertTrue(cluster.admin.status().risk().atRiskGroups() > 0);
    assertEquals(0, cluster.admin.status().risk().unreadableGroups());
    change(cluster, "profile-remove", "WEAK", "");
    assertEquals(1, cluster.admin.status().failureTolerance().drives());
    assertEquals(0, cluster.admin.status().risk().atRiskGroups());
  }

  /** Of one level, blobs of 4+2 only move, and those of 8+3 lack a shard. */
  @Test
  void debtsAreToldFromMovesByTheProfile() throws Exception {
    BalancedCluster cluster = new BalancedCluster(12, 1);
    change(cluster, "profile-add", "COLD", "8+3");
    cluster.metadata.require(TestBlobs.createBucket("b"));
    Profile cold = new Profile(8, 3, 16384);
    BlobId id = BlobId.of(cluster.metadata.session(), 1, 1);
    var blob = TestBlobs.acknowledged(cluster.metadata, id, cold.stripeBytes());
    cluster.metadata.require(TestBlobs.put("b", "k", blob.removeAcks(10)));
    assertEquals(1, cluster.admin.status().protection().debtBlobs());
    assertEquals(0, cluster.admin.status().protection().movingBlobs());
    assertEquals(2, cluster.admin.status().failureTolerance().drives());
  }
}
