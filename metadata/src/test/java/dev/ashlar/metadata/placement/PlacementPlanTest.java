package dev.ashlar.metadata.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.MoveSlots;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.message.SlotMove;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.PlacementMap.Move;
import dev.ashlar.protocol.model.Profile;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class PlacementPlanTest {
  private static final Profile PROFILE = new Profile(4, 2, 16384);
  private static final double MOVED_MAX = 1.1;

  private static Registry registry(long seed, int nodes, int drivesPerNode) {
    Random random = new Random(seed);
    Registry.Builder registry = Registry.newBuilder();
    for (int i = 0; i < nodes; i++) {
      registry.addNodes(NodeRow.newBuilder().setName("node-" + i));
      for (int drive = 0; drive < drivesPerNode; drive++) {
        registry.addDrives(
            DriveRow.newBuilder()
                .setDriveHigh(random.nextLong())
                .setDriveLow(random.nextLong())
                .setIncarnation(1)
                .setNode("node-" + i)
                .setCapacityBytes(1L << 40));
      }
    }
    return registry.build();
  }

  private static Registry without(Registry registry, String node) {
    Registry.Builder others = registry.toBuilder().clearDrives();
    registry.getDrivesList().stream()
        .filter(drive -> !drive.getNode().equals(node))
        .forEach(others::addDrives);
    return others.build();
  }

  private static List<DriveRow> of(Registry registry, String node, DriveStanding standing) {
    return registry.getDrivesList().stream()
        .filter(drive -> drive.getNode().equals(node))
        .map(drive -> drive.toBuilder().setStanding(standing).build())
        .toList();
  }

  private static PlacementMap after(PlacementMap map, MoveSlots plan) {
    List<Move> moves =
        plan.getMovesList().stream()
            .map(move -> new Move(move.getPg(), move.getSlot(), drive(move)))
            .toList();
    return map.after(map.epoch() + 1, moves, map.epoch(), 0, true);
  }

  private static UUID drive(SlotMove move) {
    return new UUID(move.getDriveHigh(), move.getDriveLow());
  }

  /** Until nothing is left to be done; how many slots have moved. */
  private static int carryOut(Registry registry, PlacementMap map, List<DriveRow> changed) {
    int moved = 0;
    PlacementMap present = map;
    while (true) {
      MoveSlots plan = PlacementPlan.plan(registry, present, changed);
      if (plan.getMovesCount() == 0) {
        return moved;
      }
      moved += plan.getMovesCount();
      present = after(present, plan);
    }
  }

  @Property(tries = 20)
  void aNodeThatJoinsGetsItsShareAndNothingElseMoves(
      @ForAll long seed,
      @ForAll @IntRange(min = 6, max = 20) int nodes,
      @ForAll @IntRange(min = 1, max = 4) int drivesPerNode) {
    Registry all = registry(seed, nodes + 1, drivesPerNode);
    String joined = "node-" + nodes;
    PlacementMap map = PlacementMap.of(Placement.first(without(all, joined), PROFILE));
    MoveSlots plan = PlacementPlan.plan(all, map, List.of());
    Set<UUID> its = new HashSet<>();
    of(all, joined, DriveStanding.STANDING_IN).forEach(row -> its.add(DriveId.idOf(row)));
    assertTrue(plan.getMovesList().stream().allMatch(move -> its.contains(drive(move))));
    double ideal = (double) map.slotDrives().size() * PROFILE.shards() / (nodes + 1);
    int moved = carryOut(all, map, List.of());
    assertTrue(moved <= MOVED_MAX * ideal, moved + " of " + ideal);
    assertTrue(moved >= ideal / MOVED_MAX, moved + " of " + ideal);
  }

  @Property(tries = 20)
  void ofANodeThatIsDrainedOnlyItsSlotsMove(
      @ForAll long seed,
      @ForAll @IntRange(min = 7, max = 16) int nodes,
      @ForAll @IntRange(min = 1, max = 4) int drivesPerNode) {
    Registry registry = registry(seed, nodes, drivesPerNode);
    PlacementMap map = PlacementMap.of(Placement.first(registry, PROFILE));
    List<DriveRow> drained = of(registry, "node-0", DriveStanding.STANDING_DRAINING);
    Set<UUID> its = new HashSet<>();
    drained.forEach(row -> its.add(DriveId.idOf(row)));
    long slots = map.slotDrives().stream().flatMap(List::stream).filter(its::contains).count();
    assertEquals(slots, carryOut(registry, map, drained));
    MoveSlots plan = PlacementPlan.plan(registry, map, drained);
    for (SlotMove move : plan.getMovesList()) {
      assertTrue(its.contains(map.drive(move.getPg(), move.getSlot())));
    }
  }

  /** With another drive of the same size at this node, which nobody has heard of before. */
  private static Registry with(Registry registry, String node, UUID drive, long capacityBytes) {
    return registry.toBuilder()
        .addDrives(
            DriveRow.newBuilder()
                .setDriveHigh(drive.getMostSignificantBits())
                .setDriveLow(drive.getLeastSignificantBits())
                .setIncarnation(1)
                .setNode(node)
                .setCapacityBytes(capacityBytes))
        .build();
  }

  private static Registry after(Registry registry, MoveSlots plan) {
    Registry.Builder after = registry.toBuilder().clearDrives();
    for (DriveRow row : registry.getDrivesList()) {
      after.addDrives(
          plan.getDrivesList().stream()
              .filter(changed -> DriveId.idOf(changed).equals(DriveId.idOf(row)))
              .findFirst()
              .orElse(row));
    }
    return after.build();
  }

  private static UUID first(Registry registry, String node) {
    return DriveId.idOf(of(registry, node, DriveStanding.STANDING_IN).getFirst());
  }

  private static void assertHasThePlaceOf(
      PlacementMap before, PlacementMap map, UUID old, UUID by) {
    for (int pg = 0; pg < map.slotDrives().size(); pg++) {
      for (int slot = 0; slot < PROFILE.shards(); slot++) {
        UUID had = before.drive(pg, slot);
        assertEquals(had.equals(old) ? by : had, map.drive(pg, slot));
      }
    }
  }

  @Property(tries = 20)
  void replacementHasThePlaceOfTheDriveAndKeepsIt(
      @ForAll long seed,
      @ForAll @IntRange(min = 7, max = 12) int nodes,
      @ForAll @IntRange(min = 1, max = 4) int drivesPerNode,
      @ForAll boolean hasItsShare) {
    Registry before = registry(seed, nodes, drivesPerNode);
    PlacementMap first = PlacementMap.of(Placement.first(before, PROFILE));
    UUID by = new UUID(seed, 1);
    Registry registry = with(before, "node-0", by, 1L << 40);
    PlacementMap map =
        hasItsShare ? after(first, PlacementPlan.plan(registry, first, List.of())) : first;
    UUID old = first(before, "node-0");
    MoveSlots plan = Replacement.plan(registry, map, old, by);
    PlacementMap replaced = after(map, plan);
    Registry draining = after(registry, plan);
    if (!hasItsShare) {
      assertHasThePlaceOf(first, replaced, old, by);
    }
    long slots = first.slotDrives().stream().filter(group -> group.contains(old)).count();
    int moved = carryOut(draining, replaced, List.of());
    // Almost always 0. Where a drive is just beyond the tolerated share, its excess moves: a fifth
    // at most in 3,000 random registries.
    assertTrue(moved <= slots / 3, moved + " of " + slots + " move again");
  }

  @Test
  void aNodeThatIsNewMayReplaceTheDriveOfAnother() {
    Registry before = registry(3, 9, 1);
    PlacementMap map = PlacementMap.of(Placement.first(before, PROFILE));
    UUID by = new UUID(3, 1);
    Registry registry =
        with(before, "new", by, 1L << 40).toBuilder()
            .addNodes(NodeRow.newBuilder().setName("new"))
            .build();
    UUID old = first(before, "node-0");
    MoveSlots plan = Replacement.plan(registry, map, old, by);
    PlacementMap replaced = after(map, plan);
    assertHasThePlaceOf(map, replaced, old, by);
    int moved = carryOut(after(registry, plan), replaced, List.of());
    assertTrue(moved <= map.slotDrives().size() * PROFILE.shards() / 9 / 5, moved + " move again");
  }

  @Test
  void unsuitableReplacementsAreRefused() {
    Registry before = registry(3, 9, 2);
    PlacementMap map = PlacementMap.of(Placement.first(before, PROFILE));
    UUID old = first(before, "node-0");
    UUID by = new UUID(3, 1);
    assertRefused("there is no drive", before, map, old, by);
    assertRefused("itself", before, map, old, old);
    assertRefused("too small", with(before, "node-0", by, 1L << 39), map, old, by);
    assertRefused(
        "several slots of one placement group", with(before, "node-1", by, 1L << 40), map, old, by);
    Registry other = with(before, "node-0", by, 1L << 40);
    assertRefused("has no slots", other, map, by, old);
    UUID neighbour = DriveId.idOf(of(before, "node-0", DriveStanding.STANDING_IN).getLast());
    assertRefused("too small", other, map, old, neighbour);
    List<DriveRow> draining = of(before, "node-0", DriveStanding.STANDING_DRAINING);
    Registry leaving = after(before, MoveSlots.newBuilder().addAllDrives(draining).build());
    assertRefused("being drained or out itself", leaving, map, old, neighbour);
  }

  private static void assertRefused(
      String why, Registry registry, PlacementMap map, UUID old, UUID by) {
    IllegalArgumentException refusal =
        assertThrows(
            IllegalArgumentException.class, () -> Replacement.plan(registry, map, old, by));
    assertTrue(String.valueOf(refusal.getMessage()).contains(why), refusal.getMessage());
  }

  @Test
  void nothingMovesWhereAllIsAsItIsToBe() {
    Registry registry = registry(3, 9, 2);
    PlacementMap map = PlacementMap.of(Placement.first(registry, PROFILE));
    assertEquals(0, PlacementPlan.plan(registry, map, List.of()).getMovesCount());
  }

  @Test
  void onlyRequiredMovesHappenWhilePaused() {
    Registry all = registry(5, 9, 1).toBuilder().setPaused(true).build();
    PlacementMap map = PlacementMap.of(Placement.first(without(all, "node-8"), PROFILE));
    assertEquals(0, PlacementPlan.plan(all, map, List.of()).getMovesCount());
    List<DriveRow> out = of(all, "node-1", DriveStanding.STANDING_OUT);
    assertTrue(PlacementPlan.plan(all, map, out).getMovesCount() > 0);
  }

  @Test
  void asManyDrivesAsSlotsHaveToBeLeft() {
    Registry registry = registry(7, 6, 1);
    PlacementMap map = PlacementMap.of(Placement.first(registry, PROFILE));
    List<DriveRow> drained = of(registry, "node-0", DriveStanding.STANDING_DRAINING);
    assertThrows(IllegalArgumentException.class, () -> PlacementPlan.plan(registry, map, drained));
  }
}
