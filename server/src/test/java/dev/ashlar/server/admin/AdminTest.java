package dev.ashlar.server.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.table.Changes;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BalanceRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.server.cluster.BalancedCluster;
import dev.ashlar.server.cluster.DriveUse;
import dev.ashlar.server.cluster.Protection;
import dev.ashlar.server.cluster.StoreSpace;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
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
  void aDriveTakesThePlaceOfAnother() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    cluster.join("node-3", 2); // a second drive
    UUID old = BalancedCluster.drive("node-3", 0);
    UUID by = BalancedCluster.drive("node-3", 1);
    long share = cluster.slots(old);
    cluster.pass(Duration.ofSeconds(8));
    assertTrue(cluster.slots(by) > 0, "it has got its share already");
    Admin.Done done =
        (Admin.Done)
            Objects.requireNonNull(cluster.admin.change("replace", old.toString(), by.toString()));
    assertEquals(List.of(old.toString()), done.drives());
    assertEquals(share, cluster.slots(by));
    assertEquals(0, cluster.slots(old));
    assertEquals(List.of(old.toString()), cluster.admin.rebalance().draining());
    long epoch = cluster.map().epoch();
    cluster.pass(Duration.ofSeconds(10));
    assertEquals(epoch, cluster.map().epoch(), "nothing moves again");
    cluster.settle();
    assertEquals(List.of(old.toString()), cluster.admin.rebalance().drained());
  }

  @Test
  void whatCannotReplaceADriveIsRefusedWithAReason() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 2);
    String old = BalancedCluster.drive("node-3", 0).toString();
    String neighbour = BalancedCluster.drive("node-3", 1).toString();
    assertRefused("too small", cluster, "replace", old, neighbour);
    assertRefused("neither a node nor a drive", cluster, "replace", old, "nobody");
    assertRefused("several drives", cluster, "replace", old, "node-3");
    cluster.failed.add(BalancedCluster.drive("node-3", 1));
    assertRefused("has failed", cluster, "replace", old, neighbour);
    assertEquals(1, cluster.map().epoch());
  }

  private static void assertRefused(
      String why, BalancedCluster cluster, String change, String target, String by) {
    Admin.RefusedException refusal =
        assertThrows(Admin.RefusedException.class, () -> cluster.admin.change(change, target, by));
    assertTrue(String.valueOf(refusal.getMessage()).contains(why), refusal.getMessage());
  }

  @Test
  void anObjectIsLocatedByItsSlotsDrivesAndDebts() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    cluster.metadata.require(TestBlobs.createBucket("b"));
    BlobId id = new BlobId(cluster.metadata.session(), 1);
    NewBlob.Builder blob =
        TestBlobs.acknowledged(cluster.metadata, id, BalancedCluster.PROFILE.stripeBytes() + 1);
    cluster.metadata.require(TestBlobs.put("b", "a/key", blob.removeAcks(1)));
    Locator.Page listed = located(cluster, "locate", "");
    Locator.Page verified = located(cluster, "locate-verified", "null");
    assertEquals(List.of("null", "null"), List.of(listed.version(), verified.version()));
    Locator.Slice slice = listed.located().getFirst();
    assertEquals(id.toString(), slice.blob());
    assertEquals(2, slice.stripes());
    assertEquals(blob.getPg(), slice.group());
    List<UUID> drives = cluster.map().slotDrives().get(blob.getPg());
    assertEquals(
        drives.stream().map(UUID::toString).toList(),
        slice.shards().stream().map(Locator.Shard::drive).toList());
    assertEquals(
        List.of("listed", "debt", "listed", "listed", "listed", "listed"),
        slice.shards().stream().map(Locator.Shard::state).toList());
    assertEquals(
        List.of("verified", "debt", "verified", "verified", "verified", "verified"),
        verified.located().getFirst().shards().stream().map(Locator.Shard::state).toList());
    for (List<String> wrong :
        List.of(List.of("b", ""), List.of("b/none", ""), List.of("b/a/key", "x"))) {
      assertThrows(
          Admin.RefusedException.class,
          () -> cluster.admin.view("locate", wrong.getFirst(), wrong.getLast()));
    }
  }

  private static Locator.Page located(BalancedCluster cluster, String page, String version)
      throws Exception {
    return assertInstanceOf(Locator.Page.class, cluster.admin.view(page, "b/a/key", version));
  }

  /** The pause after a restore also keeps data that its metadata does not know. */
  @Test
  void aRestoreIsAcceptedByItsOwnCommandOnly() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 2);
    assertRefused("no restore", cluster, "metadata-accept-restore", "", "");
    BalanceRow held = BalanceRow.newBuilder().setPaused(true).setRestored(true).build();
    TreeMap<byte[], Optional<byte[]>> rows = new TreeMap<>(Arrays::compareUnsigned);
    rows.put(Keys.balance(), Optional.of(held.toByteArray()));
    cluster.metadata.table().write(new Changes(rows));
    assertTrue(cluster.admin.status().restored());
    assertRefused("accept-restore", cluster, "resume", "", "");
    assertRefused("accept-restore", cluster, "pause", "", "");
    Object unused = cluster.admin.change("metadata-accept-restore", "", "");
    assertFalse(cluster.admin.status().restored());
    assertFalse(cluster.admin.rebalance().paused());
    unused = cluster.admin.change("pause", "", "");
    assertTrue(cluster.admin.rebalance().paused());
  }

  @Test
  void aDriveThatIsDownGetsNoSlots() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 2);
    cluster.stand("node-3", DriveStanding.STANDING_DRAINING);
    cluster.fallSilent("node-3");
    cluster.pass(Duration.ofSeconds(18));
    for (String change : List.of("in", "undrain")) {
      assertRefused("is down", cluster, change, "node-3", "");
    }
    assertEquals(0, cluster.slots("node-3"));
    cluster.speakAgain("node-3");
    cluster.pass(Duration.ofSeconds(4));
    UUID failed = BalancedCluster.drive("node-3", 1);
    cluster.failed.add(failed);
    assertRefused(failed + " of node-3 is down or has failed", cluster, "in", "node-3", "");
    cluster.stand(BalancedCluster.drive("node-3", 0).toString(), DriveStanding.STANDING_IN);
    assertTrue(cluster.slots("node-3") > 0, "of its other drive");
    assertEquals(0, cluster.slots(failed));
    cluster.failed.add(BalancedCluster.drive("node-3", 0));
    cluster.failed.remove(failed);
    cluster.stand("node-3", DriveStanding.STANDING_IN);
    assertTrue(cluster.slots(failed) > 0, "the one that is down was in before");
  }

  @Test
  void groupsThatOweComeFirst() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    cluster.metadata.require(TestBlobs.createBucket("b"));
    List<Admin.GroupInfo> before = cluster.admin.groups();
    assertEquals(cluster.map().slotDrives().size(), before.size());
    assertTrue(before.stream().allMatch(group -> group.counted() && group.debtBlobs() == 0));
    NewBlob.Builder blob =
        TestBlobs.acknowledged(
            cluster.metadata,
            new BlobId(cluster.metadata.session(), 1),
            BalancedCluster.PROFILE.stripeBytes());
    cluster.metadata.require(TestBlobs.put("b", "k", blob.removeAcks(1)));
    List<Admin.GroupInfo> groups = cluster.admin.groups();
    Admin.GroupInfo first = groups.getFirst();
    assertEquals(blob.getPg(), first.group());
    assertEquals(List.of(1L, 1L), List.of(first.debtBlobs(), first.debtShards()));
    assertEquals(BalancedCluster.PROFILE.stripeUnit(), first.debtBytes());
    assertNull(first.debtSeconds(), "nobody has watched");
    assertEquals(before.size(), groups.stream().map(Admin.GroupInfo::group).distinct().count());
    cluster.fallSilent("node-1");
    cluster.pass(Duration.ofSeconds(90));
    assertFalse(cluster.admin.groups().getFirst().counted(), "what was there is not looked for");
  }

  @Test
  void withoutMetadataNothingIsTold() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    cluster.metadata.setUnavailable(true);
    for (String page : List.of("status", "repair", "rebalance", "drives", "nodes", "pgs")) {
      assertThrows(
          MetadataUnavailableException.class, () -> cluster.admin.view(page, "", ""), page);
    }
    cluster.metadata.setUnavailable(false);
    assertTrue(Protection.of(cluster.metadata).known());
  }

  @Test
  void aDriveThatHasJustComeIsToGetItsSlots() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    assertEquals(List.of(), cluster.admin.rebalance().coming());
    cluster.join("node-8");
    UUID drive = BalancedCluster.drive("node-8", 0);
    assertEquals(List.of(drive.toString()), cluster.admin.rebalance().coming());
    cluster.admin.pause(true);
    assertEquals(List.of(), cluster.admin.rebalance().coming(), "nobody gives it any");
    cluster.admin.pause(false);
    cluster.failed.add(drive);
    assertEquals(List.of(), cluster.admin.rebalance().coming(), "it could not take any");
    cluster.failed.clear();
    cluster.pass(Duration.ofSeconds(8));
    assertTrue(cluster.slots(drive) > 0);
    assertEquals(List.of(), cluster.admin.rebalance().coming());
  }

  @Test
  void drivesTellHowFullTheyAre() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    UUID drive = BalancedCluster.drive("node-3", 0);
    assertNull(info(cluster, drive).usedPercent(), "not told yet");
    assertEquals(new StoreSpace(0, 0, 0, null), cluster.admin.status().space());
    tell(cluster, "node-3", new DriveUse(700, 300, 600));
    tell(cluster, "node-4", new DriveUse(799, 201, 5));
    Admin.DriveInfo told = info(cluster, drive);
    assertEquals(
        List.of(700L, 300L, 600L),
        List.of(
            Objects.requireNonNull(told.usedBytes()),
            Objects.requireNonNull(told.freeBytes()),
            Objects.requireNonNull(told.liveBytes())));
    assertEquals(70, told.usedPercent());
    assertEquals(new StoreSpace(1499, 501, 605, 79), cluster.admin.status().space());
    cluster.stand("node-3", DriveStanding.STANDING_DRAINING);
    cluster.fallSilent("node-4");
    cluster.pass(Duration.ofSeconds(18));
    assertEquals(70, info(cluster, drive).usedPercent(), "also in another standing");
    assertEquals(
        new StoreSpace(700, 300, 600, 70), cluster.admin.status().space(), "of what is up");
  }

  private static void tell(BalancedCluster cluster, String node, DriveUse use) {
    cluster.uses.put(BalancedCluster.drive(node, 0), use);
    cluster.join(node);
  }

  private static Admin.DriveInfo info(BalancedCluster cluster, UUID drive) throws Exception {
    return cluster.admin.drives().stream()
        .filter(each -> each.id().equals(drive.toString()))
        .findFirst()
        .orElseThrow();
  }
}
