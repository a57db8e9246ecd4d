package dev.ashlar.server.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.placement.Placement;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.FailureDomain;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.RegisterNode;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.server.config.ClusterOptions;
import dev.ashlar.server.config.ServerOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Who may join a cluster of three nodes, each in a rack of its own zone. */
class MembershipTest {
  private static final Profile PROFILE = new Profile(2, 1, 16384);
  private static final int NODES = 3;
  private static final Duration WAIT = Duration.ofSeconds(30);

  private final MemoryMetadata metadata = new MemoryMetadata(new ManualClock(1_000_000));

  private static DriveRow drive(int node) {
    return new DriveId(new UUID(0, node), 1)
        .toMessage().toBuilder().setCapacityBytes(1L << 40).build();
  }

  private void begin(boolean hasRacks, boolean hasZones) throws Exception {
    for (int node = 1; node <= NODES; node++) {
      NodeRow row =
          NodeRow.newBuilder()
              .setName("node-" + node)
              .setHost("127.0.0.1")
              .setPort(9002)
              .setRack(hasRacks ? "r" + node : "")
              .setZone(hasZones ? "z" + node : "")
              .build();
      metadata
          .anotherClient()
          .require(
              Command.newBuilder()
                  .setRegisterNode(RegisterNode.newBuilder().setNode(row).addDrives(drive(node))));
    }
    metadata.require(
        Command.newBuilder()
            .setPutDrives(
                PutDrives.newBuilder().setPgMap(Placement.first(metadata.registry(), PROFILE))));
  }

  private static ClusterOptions options(int node, String rack, String zone) {
    ServerOptions options =
        ServerOptions.parse(
            Map.of("ASHLAR_CLUSTER_SECRET", "sixteen bytes or more"),
            "--cluster=test",
            "--roles=storage",
            "--node=node-" + node,
            "--host=127.0.0.1",
            "--metadata-nodes=127.0.0.1:1",
            "--rack=" + rack,
            "--zone=" + zone,
            "--profile=" + PROFILE,
            "--expect-drives=" + NODES);
    return Objects.requireNonNull(options.cluster());
  }

  private Membership member(int node, String rack, String zone) {
    return new Membership(
        metadata.anotherClient(),
        options(node, rack, zone),
        List.of(drive(node)),
        PROFILE,
        () -> {});
  }

  private void join(int node, String rack, String zone) throws Exception {
    try (Membership member = member(node, rack, zone)) {
      member.join();
    }
  }

  private void assertRefused(String why, String rack, String zone) {
    IOException refusal = assertThrows(IOException.class, () -> join(NODES + 1, rack, zone));
    assertTrue(refusal.toString().contains(why), refusal.toString());
  }

  @Test
  void whoJoinsAClusterOfRacksHasOne() throws Exception {
    begin(true, false);
    assertEquals(FailureDomain.DOMAIN_RACK, metadata.placement().standard().failureDomain());
    assertRefused("--rack", "", "");
    assertRefused("--rack", "", "z");
    join(NODES + 1, "r4", "");
  }

  @Test
  void whoJoinsAClusterOfZonesHasOne() throws Exception {
    begin(true, true);
    assertEquals(FailureDomain.DOMAIN_ZONE, metadata.placement().standard().failureDomain());
    assertRefused("--zone", "r4", "");
    join(NODES + 1, "", "z4");
  }

  @Test
  void whoHasDataThereIsTakenWithoutOne() throws Exception {
    begin(true, false);
    join(1, "", "");
  }

  @Test
  void elsewhereNobodyNeedsOne() throws Exception {
    begin(false, false);
    join(NODES + 1, "", "");
  }

  @Test
  void metadataLearnsHowFullDrivesAre() throws Exception {
    begin(false, false);
    DriveUse use = new DriveUse(700, 300, 600);
    try (Membership member = member(NODES + 1, "", "")) {
      member.reportUse(drive -> drive.equals(new UUID(0, NODES + 1)) ? use : null);
      member.reportReads(() -> 17);
      member.join();
      long deadline = System.nanoTime() + WAIT.toNanos();
      while (DriveUse.of(row(NODES + 1)) == null || oldestReadMs(NODES + 1) == 0) {
        assertTrue(System.nanoTime() < deadline, "still waiting");
        Thread.sleep(20);
      }
    }
    assertEquals(use, DriveUse.of(row(NODES + 1)));
    assertEquals(17, oldestReadMs(NODES + 1), "its reads still run");
    assertNull(DriveUse.of(row(1)));
  }

  private DriveRow row(int node) throws Exception {
    return metadata.registry().getDrivesList().stream()
        .filter(row -> DriveId.idOf(row).equals(new UUID(0, node)))
        .findFirst()
        .orElseThrow();
  }

  private long oldestReadMs(int node) throws Exception {
    return metadata.registry().getNodesList().stream()
        .filter(row -> row.getName().equals("node-" + node))
        .findFirst()
        .orElseThrow()
        .getOldestReadMs();
  }
}
