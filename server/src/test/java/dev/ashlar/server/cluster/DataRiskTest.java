package dev.ashlar.server.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.model.BlobId;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Of 4+2 on eight nodes with a drive each. */
class DataRiskTest {
  /** Until a node counts as down. */
  private static final Duration NOTICED = Duration.ofSeconds(18);

  private final BalancedCluster cluster;

  DataRiskTest() throws Exception {
    cluster = new BalancedCluster(8, 1);
  }

  @BeforeEach
  void bucket() {
    cluster.metadata.require(TestBlobs.createBucket("b"));
  }

  /** The drives of its slots, of which the last so many did not acknowledge. */
  private List<UUID> put(int sequence, int owed) throws Exception {
    BlobId blob = new BlobId(cluster.metadata.session(), sequence);
    NewBlob.Builder row =
        TestBlobs.acknowledged(cluster.metadata, blob, BalancedCluster.PROFILE.stripeBytes());
    for (int i = 0; i < owed; i++) {
      row.removeAcks(row.getAcksCount() - 1);
    }
    cluster.metadata.require(TestBlobs.put("b", "k" + sequence, row));
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

  private void lose(List<UUID> drives) throws Exception {
    drives.forEach(drive -> cluster.fallSilent(nodeOf(drive)));
    cluster.pass(NOTICED);
  }

  private void assertBlobs(long atRisk, long unreadable) throws Exception {
    DataRisk risk = cluster.admin.state().risk(cluster.metadata);
    assertEquals(List.of(atRisk, unreadable), List.of(risk.atRiskBlobs(), risk.unreadableBlobs()));
    assertEquals(unreadable == 0 && risk.unreadableGroups() == 0, risk.allReadable());
    assertEquals(risk, cluster.admin.status().risk());
  }

  @Test
  void nothingIsAtRiskWhereEverythingIsThere() throws Exception {
    put(1, 0);
    assertEquals(
        new DataRisk(true, true, 0, 0, 0, 0, 0), cluster.admin.state().risk(cluster.metadata));
  }

  /** A drive that is down takes nothing from a blob that owes it its shard anyhow. */
  @Test
  void whatIsOwedAndWhatIsAwayAreCountedTogether() throws Exception {
    List<UUID> slots = put(1, 1);
    assertBlobs(0, 0);
    lose(List.of(slots.getLast()));
    assertBlobs(0, 0);
    lose(List.of(slots.getFirst()));
    assertBlobs(1, 0);
    lose(List.of(slots.get(1)));
    assertBlobs(0, 1);
  }

  @Test
  void groupsOfWhichTooManyDrivesAreDownCannotBeRead() throws Exception {
    List<UUID> slots = put(1, 0);
    lose(slots.subList(0, 2));
    DataRisk two = cluster.admin.state().risk(cluster.metadata);
    assertEquals(true, two.allReadable());
    assertEquals(true, two.atRiskGroups() > 0);
    lose(slots.subList(2, 3));
    DataRisk three = cluster.admin.state().risk(cluster.metadata);
    assertEquals(List.of(true, false), List.of(three.known(), three.allReadable()));
    assertEquals(true, three.unreadableGroups() > 0);
  }

  /** None of them can lack more than it can spare. */
  @Test
  void moreBlobsThanAreLookedAtCanBeReadWhereTooFewDrivesAreAway() throws Exception {
    List<UUID> slots = put(1, 1);
    BlobRow row = cluster.metadata.blobsInDebt(1, null, 1).getFirst();
    KnownDrives known = new KnownDrives(cluster.registry(), cluster.map());
    Protection protection = Protection.of(cluster.metadata);
    DataRisk.BlobsInDebt many = (spare, after, max) -> Collections.nCopies(max, row);
    DataRisk one = DataRisk.of(known, Set.of(slots.getFirst()), protection, many);
    assertEquals(List.of(false, true), List.of(one.known(), one.allReadable()));
    Set<UUID> away = Set.copyOf(slots.subList(4, 6));
    DataRisk two = DataRisk.of(known, away, protection, many);
    assertEquals(0, two.unreadableBlobs(), "of those that were looked at");
    assertEquals(List.of(false, false), List.of(two.known(), two.allReadable()));
  }

  /** Until all blobs are known that lack what was there, it counts as down. */
  @Test
  void aReplacedDriveIsNotKnownToHaveAnything() throws Exception {
    put(1, 0);
    cluster.joinEmpty("node-3");
    DataRisk risk = cluster.admin.state().risk(cluster.metadata);
    assertEquals(List.of(false, 1), List.of(risk.known(), risk.uncountedDrives()));
    assertEquals(true, risk.allReadable());
    assertEquals(1, cluster.admin.state().failureTolerance().drives());
    cluster.settle();
    assertEquals(
        List.of(true, 0), List.of(cluster.admin.state().risk(cluster.metadata).known(), 0));
  }

  @Test
  void itIsMeasured() {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    AtomicReference<DataRisk> now = new AtomicReference<>();
    DataRisk.measure(now::get, meters);
    assertEquals(Double.NaN, meters.get("ashlar.risk.unreadable.blobs").gauge().value());
    now.set(new DataRisk(false, false, 1, 2, 3, 4, 5));
    assertEquals(1, meters.get("ashlar.risk.at.risk.blobs").gauge().value());
    assertEquals(2, meters.get("ashlar.risk.unreadable.blobs").gauge().value());
    assertEquals(3, meters.get("ashlar.risk.at.risk.groups").gauge().value());
    assertEquals(4, meters.get("ashlar.risk.unreadable.groups").gauge().value());
    assertEquals(5, meters.get("ashlar.risk.uncounted.drives").gauge().value());
  }
}
