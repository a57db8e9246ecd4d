package dev.ashlar.server.admin;

import static dev.ashlar.server.admin.Health.Extent.ALL;
import static dev.ashlar.server.admin.Health.Extent.NONE;
import static dev.ashlar.server.admin.Health.Extent.SOME;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.server.admin.Health.Extent;
import dev.ashlar.server.admin.Health.Status;
import dev.ashlar.server.cluster.BalancedCluster;
import dev.ashlar.server.cluster.ClusterView;
import dev.ashlar.server.cluster.DataRisk;
import dev.ashlar.server.cluster.Protection;
import dev.ashlar.server.config.ClusterOptions;
import dev.ashlar.server.config.ServerOptions;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ClusterHealthTest {
  /** Until a node counts as down. */
  private static final Duration NOTICED = Duration.ofSeconds(18);

  private static final ClusterOptions GATEWAY =
      Objects.requireNonNull(
          ServerOptions.parse(
                  Map.of("ASHLAR_CLUSTER_SECRET", "sixteen bytes or more"),
                  "--cluster=test",
                  "--roles=gateway",
                  "--node=gateway",
                  "--metadata-nodes=127.0.0.1:1")
              .cluster());

  private final BalancedCluster cluster;
  private final SlabPool slabs = new SlabPool(1 << 20);
  private final Map<UUID, MemoryShardStore> stores = new HashMap<>();
  private final Seen seen = new Seen();

  ClusterHealthTest() throws Exception {
    cluster = new BalancedCluster(8, 1);
    seen.look();
  }

  /** What a gateway has seen, and the drives that it reaches. */
  private final class Seen implements ClusterView {
    private Registry registry = Registry.getDefaultInstance();
    private Protection protection = Protection.UNKNOWN;
    private DataRisk risk = DataRisk.UNKNOWN;
    private boolean isFresh;

    void look() throws MetadataUnavailableException {
      registry = cluster.registry();
      protection = Protection.of(cluster.metadata);
      risk = cluster.admin.state().risk(cluster.metadata);
      isFresh = true;
      for (DriveRow row : registry.getDrivesList()) {
        DriveId drive = DriveId.of(row);
        stores.putIfAbsent(drive.id(), new MemoryShardStore(drive, slabs));
      }
    }

    @Override
    public Registry registry() {
      return registry;
    }

    @Override
    public boolean isFresh() {
      return isFresh;
    }

    @Override
    public Protection protection() {
      return isFresh ? protection : Protection.UNKNOWN;
    }

    @Override
    public DataRisk risk() {
      return isFresh ? risk : DataRisk.UNKNOWN;
    }

    @Override
    public @Nullable ShardStore reached(UUID drive) {
      return stores.get(drive);
    }
  }

  private ClusterHealth health() {
    return ClusterHealth.ofGateway(GATEWAY, cluster.map(), seen, null);
  }

  private void assertHealth(Status status, Extent reads, Extent writes) {
    ClusterHealth health = health();
    assertEquals(
        List.of(status, reads, writes),
        List.of(
            health.status(),
            Objects.requireNonNull(health.reads()),
            Objects.requireNonNull(health.writes())));
  }

  private static UUID drive(int node) {
    return BalancedCluster.drive("node-" + node, 0);
  }

  @Test
  void theDrivesOfTheGroupsDecideWhatCanBeReadAndWritten() {
    assertHealth(Status.UP, ALL, ALL);
    Objects.requireNonNull(stores.get(drive(0))).failWrites(ShardFault.FULL);
    assertHealth(Status.DEGRADED, ALL, ALL);
    assertEquals(List.of("node-0/" + drive(0)), health().drives().full());
    Objects.requireNonNull(stores.get(drive(1))).failWrites(ShardFault.READ_ONLY);
    assertHealth(Status.DEGRADED, ALL, SOME);
    assertEquals(List.of("node-1/" + drive(1)), health().drives().readOnly());
    for (int node = 2; node < 5; node++) {
      stores.remove(drive(node));
    }
    assertHealth(Status.DEGRADED, SOME, NONE);
    stores.remove(drive(5));
    stores.remove(drive(6));
    assertHealth(Status.DOWN, NONE, NONE);
    assertEquals(5, health().drives().missing().size());
  }

  @Test
  void withoutMetadataNothingWorks() throws Exception {
    seen.isFresh = false;
    assertHealth(Status.DOWN, NONE, NONE);
    assertEquals(false, health().metadataAnswers());
    assertEquals(8, health().drives().writable(), "they are reached nevertheless");
    seen.look();
    assertHealth(Status.UP, ALL, ALL);
    assertEquals(true, health().metadataAnswers());
  }

  @Test
  void aNodeThatFallsSilentIsNamed() throws Exception {
    cluster.fallSilent("node-3");
    cluster.pass(NOTICED);
    seen.look();
    assertHealth(Status.DEGRADED, ALL, ALL);
    assertEquals(List.of("node-3"), health().nodesDown());
  }

  @Test
  void aDriveWithoutWhichItsNodeHasComeIsMissing() throws Exception {
    TestBlobs.fill(cluster.metadata);
    cluster.fallSilent("node-1", "node-2");
    cluster.pass(NOTICED);
    cluster.joinEmpty("node-3");
    seen.look();
    assertEquals(true, cluster.row(drive(3)).getAbsent(), "it may not be replaced");
    assertEquals(List.of("node-3/" + drive(3)), health().drives().missing());
    assertEquals(
        List.of(drive(3).toString()),
        cluster.admin.drives().stream()
            .filter(Admin.DriveInfo::absent)
            .map(Admin.DriveInfo::id)
            .toList());
  }

  @Test
  void aNodeThatIsDrainedMayEnd() throws Exception {
    cluster.stand("node-3", DriveStanding.STANDING_DRAINING);
    cluster.pass(Duration.ofSeconds(4));
    cluster.fallSilent("node-3");
    cluster.pass(NOTICED);
    seen.look();
    assertEquals(List.of("node-3"), health().nodesDown(), "nobody has looked what it has");
    assertEquals(1, cluster.admin.status().drives().down());
    cluster.settle();
    seen.look();
    assertHealth(Status.UP, ALL, ALL);
    assertEquals(List.of(), health().nodesDown());
    assertEquals(0, cluster.admin.status().drives().down());
    assertEquals(8, cluster.admin.status().drives().total());
  }
}
