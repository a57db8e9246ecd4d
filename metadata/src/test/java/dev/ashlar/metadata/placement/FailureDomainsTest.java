package dev.ashlar.metadata.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.FailureDomain;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.PgMapRow;
import dev.ashlar.protocol.message.PgRow;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class FailureDomainsTest {
  private static final Profile PROFILE = new Profile(4, 2, 16384);
  private static final double MOVED_MAX = 1.1;

  private final long seed = Long.getLong("ashlar.metadata.seed", 20261121);
  private final Random random = new Random(seed);

  private Registry registry(
      int nodes, int drivesPerNode, IntFunction<String> rack, IntFunction<String> zone) {
    Registry.Builder registry = Registry.newBuilder();
    for (int i = 0; i < nodes; i++) {
      String name = "node-" + i;
      registry.addNodes(
          NodeRow.newBuilder().setName(name).setRack(rack.apply(i)).setZone(zone.apply(i)));
      for (int drive = 0; drive < drivesPerNode; drive++) {
        registry.addDrives(
            DriveRow.newBuilder()
                .setDriveHigh(random.nextLong())
                .setDriveLow(random.nextLong())
                .setIncarnation(1)
                .setNode(name)
                .setCapacityBytes(1L << 40));
      }
    }
    return registry.build();
  }

  private Registry nodes(int nodes, int drivesPerNode) {
    return registry(nodes, drivesPerNode, i -> "", i -> "");
  }

  private static FailureDomain widest(Registry registry) {
    return new FailureDomains(registry).widest(PROFILE.shards());
  }

  @Test
  void theWidestDomainsWithEnoughForAllSlotsAreTaken() {
    assertEquals(FailureDomain.DOMAIN_NODE, widest(nodes(6, 2)));
    assertEquals(FailureDomain.DOMAIN_NODE, widest(registry(12, 1, i -> "r" + i % 5, i -> "z")));
    assertEquals(FailureDomain.DOMAIN_RACK, widest(registry(12, 1, i -> "r" + i % 6, i -> "z")));
    assertEquals(
        FailureDomain.DOMAIN_ZONE, widest(registry(12, 1, i -> "r" + i, i -> "z" + i % 6)));
    assertEquals(FailureDomain.DOMAIN_NODE, widest(nodes(3, 4)));
  }

  @Test
  void racksOfDifferentZonesAreDifferent() {
    assertEquals(
        FailureDomain.DOMAIN_RACK, widest(registry(12, 1, i -> "r" + i % 3, i -> "z" + i / 6)));
  }

  @Test
  void aLabelCountsOnlyWhereEveryNodeHasIt() {
    assertEquals(
        FailureDomain.DOMAIN_NODE, widest(registry(12, 1, i -> i == 11 ? "" : "r" + i, i -> "")));
  }

  @Test
  void noTwoSlotsOfAGroupShareADomain() {
    Registry registry = registry(14, 2, i -> "r" + i % 7, i -> "");
    PgMapRow map = Placement.first(registry, PROFILE);
    assertEquals(FailureDomain.DOMAIN_RACK, map.getFailureDomain());
    Map<UUID, String> racks =
        new FailureDomains(registry)
            .drives(FailureDomain.DOMAIN_RACK).stream()
                .collect(Collectors.toMap(DriveId::idOf, DriveRow::getFailureDomain));
    for (PgRow pg : map.getPgsList()) {
      long distinct =
          pg.getSlotsList().stream().map(DriveId::idOf).map(racks::get).distinct().count();
      assertEquals(PROFILE.shards(), distinct, pg::toString);
    }
  }

  @Test
  void fewNodesGetTheSameNumberOfSlotsEach() {
    Registry registry = nodes(3, 4);
    Map<UUID, String> nodes = nodesOf(registry);
    for (PgRow pg : Placement.first(registry, PROFILE).getPgsList()) {
      Map<String, Integer> slots = new HashMap<>();
      pg.getSlotsList().forEach(slot -> slots.merge(node(nodes, slot), 1, Integer::sum));
      assertEquals(Map.of("node-0", 2, "node-1", 2, "node-2", 2), slots);
    }
  }

  private static Map<UUID, String> nodesOf(Registry registry) {
    return registry.getDrivesList().stream()
        .collect(Collectors.toMap(DriveId::idOf, DriveRow::getNode));
  }

  private static String node(Map<UUID, String> nodes, DriveRow slot) {
    return nodes.getOrDefault(DriveId.idOf(slot), "none");
  }

  /** Its share, within a tenth, goes to the node that joins; nothing goes anywhere else. */
  @Test
  void aNodeThatJoinsTakesItsShareAndNothingElseMoves() {
    List<String> moves = new ArrayList<>();
    for (int nodes = 6; nodes <= 14; nodes++) {
      int drivesPerNode = 1 + random.nextInt(3);
      Registry after = nodes(nodes + 1, drivesPerNode);
      String joined = "node-" + nodes;
      PgMapRow first = Placement.first(without(after, joined), PROFILE);
      PgMapRow next = Placement.next(level -> drives(after), first);
      double ideal = (double) first.getPgsCount() * PROFILE.shards() / (nodes + 1);
      int moved = moved(first, next, nodesOf(after), joined);
      moves.add(nodes + " nodes of " + drivesPerNode + ": " + moved / ideal);
      assertTrue(moved <= MOVED_MAX * ideal, "seed " + seed + ", " + moves);
    }
  }

  private static List<DriveRow> drives(Registry registry) {
    return new FailureDomains(registry).drives(FailureDomain.DOMAIN_NODE);
  }

  private static Registry without(Registry registry, String node) {
    Registry.Builder others = registry.toBuilder().clearDrives();
    registry.getDrivesList().stream()
        .filter(drive -> !drive.getNode().equals(node))
        .forEach(others::addDrives);
    return others.build();
  }

  /** How many slots moved; all of them must have moved to this node. */
  private int moved(PgMapRow before, PgMapRow after, Map<UUID, String> nodes, String to) {
    int moved = 0;
    for (int pg = 0; pg < before.getPgsCount(); pg++) {
      for (int slot = 0; slot < PROFILE.shards(); slot++) {
        DriveRow now = after.getPgs(pg).getSlots(slot);
        if (!now.equals(before.getPgs(pg).getSlots(slot))) {
          assertEquals(to, node(nodes, now), "seed " + seed);
          moved++;
        }
      }
    }
    return moved;
  }
}
