package dev.ashlar.server.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.server.cluster.BalancedCluster;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Of 4+2 on eight nodes with a drive each. */
class DriveRecallsTest {
  /** Until a node counts as down. */
  private static final Duration NOTICED = Duration.ofSeconds(18);

  private final BalancedCluster cluster;

  DriveRecallsTest() throws Exception {
    cluster = new BalancedCluster(8, 1);
  }

  private List<UUID> put() throws Exception {
    cluster.metadata.require(TestBlobs.createBucket("b"));
    BlobId blob = new BlobId(cluster.metadata.session(), 1);
    NewBlob.Builder row =
        TestBlobs.acknowledged(cluster.metadata, blob, BalancedCluster.PROFILE.stripeBytes());
    cluster.metadata.require(TestBlobs.put("b", "k", row));
    return cluster.map().slotDrives().get(row.getPg());
  }

  private static String nodeOf(UUID drive) {
    for (int node = 0; node < 8; node++) {
      if (BalancedCluster.drive("node-" + node, 0).equals(drive)) {
        return "node-" + node;
      }
    }
    throw new IllegalArgumentException(drive.toString());
  }

  /** Two others are down: without what the replacement has, three shards are too few. */
  @Test
  void drivesThatAreDownCountAgainstARecall() throws Exception {
    List<UUID> slots = put();
    String first = nodeOf(slots.get(0));
    String second = nodeOf(slots.get(1));
    cluster.fallSilent(first, second);
    cluster.pass(NOTICED);
    cluster.joinEmpty(nodeOf(slots.get(2)));
    String target = slots.get(2).toString();
    assertTrue(cluster.row(slots.get(2)).getAbsent(), "the recalled drive has not come");
    Admin.RefusedException refused =
        assertThrows(
            Admin.RefusedException.class, () -> cluster.admin.change("drive-recall", target, ""));
    assertTrue(String.valueOf(refused.getMessage()).startsWith("1 blobs"), refused.toString());
    cluster.speakAgain(first);
    cluster.pass(Duration.ofSeconds(4));
    Admin.Done done = (Admin.Done) cluster.admin.change("drive-recall", target, "");
    assertEquals(List.of(target), done == null ? List.of() : done.drives());
  }
}
