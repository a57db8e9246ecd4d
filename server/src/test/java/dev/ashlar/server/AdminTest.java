package dev.ashlar.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.model.BlobId;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class AdminTest {
  @Test
  void aDriveThatFailedIsShownAndMayBeTakenOutAtOnce() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 2);
    UUID drive = BalancedCluster.drive("node-3", 1);
    assertThrows(
        Admin.RefusedException.class,
        () -> cluster.stand(drive.toString(), DriveStanding.STANDING_OUT));
    cluster.failed.add(drive);
    assertEquals(1, cluster.admin.status().drives().failed());
    assertEquals(
        List.of(drive.toString()),
        cluster.admin.drives().stream()
            .filter(Admin.DriveInfo::failed)
            .map(Admin.DriveInfo::id)
            .toList());
    cluster.stand(drive.toString(), DriveStanding.STANDING_OUT);
    assertEquals(0, cluster.slots(drive));
    assertThrows(
        Admin.RefusedException.class,
        () -> cluster.stand("node-3", DriveStanding.STANDING_OUT),
        "its other drive is well");
  }

  @Test
  void groupsThatOweComeFirst() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    cluster.metadata.require(TestBlobs.createBucket("b"));
    List<Admin.GroupInfo> before = cluster.admin.groups();
    assertEquals(cluster.map().pgCount(), before.size());
    assertTrue(before.stream().allMatch(group -> group.counted() && group.owingBlobs() == 0));
    NewBlob.Builder blob =
        TestBlobs.acknowledged(
            cluster.metadata,
            new BlobId(cluster.metadata.session(), 1),
            BalancedCluster.PROFILE.stripeBytes());
    cluster.metadata.require(TestBlobs.put("b", "k", blob.removeAcks(1)));
    List<Admin.GroupInfo> groups = cluster.admin.groups();
    Admin.GroupInfo first = groups.getFirst();
    assertEquals(blob.getPg(), first.group());
    assertEquals(List.of(1L, 1L), List.of(first.owingBlobs(), first.owingShards()));
    assertEquals(BalancedCluster.PROFILE.stripeUnit(), first.owingBytes());
    assertNull(first.owingSeconds(), "nobody has watched");
    assertEquals(before.size(), groups.stream().map(Admin.GroupInfo::group).distinct().count());
    cluster.fallSilent("node-1");
    cluster.pass(Duration.ofSeconds(90));
    assertFalse(cluster.admin.groups().getFirst().counted(), "what was there is not looked for");
  }
}
