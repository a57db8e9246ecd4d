package dev.ashlar.metadata.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.raft.CommitQueue;
import dev.ashlar.protocol.message.AddProfile;
import dev.ashlar.protocol.message.AddedProfile;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.FailureDomain;
import dev.ashlar.protocol.message.MoveSlots;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.message.SlotMove;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.PlacementMap.Move;
import dev.ashlar.protocol.model.Profile;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Placement of a cluster whose first profile is 4+2, and to which 1+2 was added. */
class AddedProfilesTest {
  private static final Profile FOUR_TWO = new Profile(4, 2, 16384);
  private static final Profile ONE_TWO = new Profile(1, 2, 16384);

  /** One drive per node, three racks. */
  private static Registry registry(int nodes) {
    Registry.Builder registry = Registry.newBuilder();
    for (int i = 0; i < nodes; i++) {
      registry
          .addNodes(NodeRow.newBuilder().setName("n" + i).setRack("r" + i % 3))
          .addDrives(
              DriveRow.newBuilder()
                  .setDriveHigh(i)
                  .setDriveLow(7)
                  .setIncarnation(1)
                  .setNode("n" + i)
                  .setCapacityBytes(1L << 40));
    }
    return registry.build();
  }

  private static PlacementMap map(Registry registry) {
    PlacementMap first = PlacementMap.of(Placement.first(registry, FOUR_TWO));
    AddedProfile added = Placement.added(registry, first, "HOT", ONE_TWO);
    return PlacementMap.of(first.toMessage().toBuilder().addAdded(added).build());
  }

  private static UUID drive(int node) {
    return new UUID(node, 7);
  }

  @Test
  void eachProfileHasItsOwnFailureDomain() {
    PlacementMap map = map(registry(9));
    assertEquals(FailureDomain.DOMAIN_NODE, map.placed(0).failureDomain());
    PlacedProfile hot = map.ofClass("HOT").orElseThrow();
    assertEquals(FailureDomain.DOMAIN_RACK, hot.failureDomain());
    assertEquals(map.placed(0).endGroup(), hot.firstGroup());
    for (int pg = hot.firstGroup(); pg < hot.endGroup(); pg++) {
      long racks =
          map.slotDrives().get(pg).stream()
              .map(id -> id.getMostSignificantBits() % 3)
              .distinct()
              .count();
      assertEquals(3, racks);
    }
    Map<UUID, Long> slots = map.slotCounts(hot);
    double ideal = 3.0 * hot.groupCount() / 9;
    slots
        .values()
        .forEach(count -> assertTrue(Math.abs(count / ideal - 1) < 0.15, slots::toString));
  }

  @Test
  void itTakesOnlyDrivesThatAreIn() {
    Registry.Builder registry = registry(9).toBuilder();
    registry.getDrivesBuilder(4).setStanding(DriveStanding.STANDING_DRAINING);
    PlacementMap first = PlacementMap.of(Placement.first(registry(9), FOUR_TWO));
    AddedProfile added = Placement.added(registry.build(), first, "HOT", ONE_TWO);
    assertTrue(
        added.getPgsList().stream()
            .flatMap(pg -> pg.getSlotsList().stream())
            .noneMatch(slot -> DriveId.idOf(slot).equals(drive(4))));
  }

  @Test
  void aProfileThatIsWiderThanTheDrivesIsRefusedWithItsName() {
    PlacementMap first = PlacementMap.of(Placement.first(registry(9), FOUR_TWO));
    IllegalArgumentException refusal =
        assertThrows(
            IllegalArgumentException.class,
            () -> Placement.added(registry(9), first, "COLD", new Profile(8, 3, 16384)));
    assertEquals("COLD 8+3 needs 11 drives, there are 9", refusal.getMessage());
  }

  /** Both widest and with most groups, it is sent in one command. */
  @ParameterizedTest
  @CsvSource({"12, 4", "180, 20", "245, 10"})
  void aVeryWideProfileHasFewerGroups(int dataShards, int parityShards) {
    Registry registry = registry(300);
    PlacementMap first = PlacementMap.of(Placement.first(registry, FOUR_TWO));
    Profile profile = new Profile(dataShards, parityShards, 4096);
    AddedProfile added = Placement.added(registry, first, "W".repeat(32), profile);
    Command command =
        Command.newBuilder()
            .setAddProfile(AddProfile.newBuilder().setBaseEpoch(Long.MAX_VALUE).setProfile(added))
            .build();
    assertTrue(added.getPgsCount() > 100);
    assertTrue(
        command.getSerializedSize() < CommitQueue.COMMAND_BYTES_MAX,
        () -> command.getSerializedSize() + " bytes");
  }

  private static List<Move> moves(MoveSlots plan) {
    return plan.getMovesList().stream().map(AddedProfilesTest::move).toList();
  }

  private static Move move(SlotMove move) {
    return new Move(
        move.getPg(), move.getSlot(), new UUID(move.getDriveHigh(), move.getDriveLow()));
  }

  @Test
  void aNodeThatJoinsGetsItsShareOfEachProfile() {
    PlacementMap map = map(registry(9));
    MoveSlots plan = PlacementPlan.plan(registry(10), map, List.of());
    PlacementMap next = map.after(map.epoch() + 1, moves(plan), 1, 1, false);
    for (PlacedProfile placed : map.present()) {
      double ideal = placed.profile().shards() * placed.groupCount() / 10.0;
      long share = next.slotCounts(placed).getOrDefault(drive(9), 0L);
      // One of three racks has a node more: its drives have less each, where racks are the domains.
      assertTrue(share > 0.6 * ideal && share < 1.3 * ideal, placed + ": " + share / ideal);
    }
    assertEquals(0, PlacementPlan.plan(registry(10), next, List.of()).getMovesCount());
  }

  @Test
  void aDrainedDriveLosesItsSlotsOfEachProfile() {
    Registry registry = registry(9);
    PlacementMap map = map(registry);
    DriveRow leaving =
        registry.getDrives(2).toBuilder().setStanding(DriveStanding.STANDING_DRAINING).build();
    MoveSlots plan = PlacementPlan.plan(registry, map, List.of(leaving));
    PlacementMap next = map.after(map.epoch() + 1, moves(plan), 1, 1, false);
    assertEquals(null, next.slotCounts().get(drive(2)));
    Map<Integer, Long> perProfile =
        moves(plan).stream()
            .collect(
                Collectors.groupingBy(
                    move -> map.placed(move.pg()).number(), Collectors.counting()));
    assertEquals(2, perProfile.size());
  }

  @Test
  void aDrainThatAProfileCannotSpareIsRefused() {
    Registry registry = registry(6);
    PlacementMap map = map(registry);
    DriveRow leaving =
        registry.getDrives(2).toBuilder().setStanding(DriveStanding.STANDING_DRAINING).build();
    IllegalArgumentException refusal =
        assertThrows(
            IllegalArgumentException.class,
            () -> PlacementPlan.plan(registry, map, List.of(leaving)));
    assertEquals("FIRST 4+2 needs 6 drives, there are 5", refusal.getMessage());
  }

  @Test
  void aDriveReplacesAnotherInAllProfiles() {
    Registry registry = registry(12); // nodes 9 and 0 are in one rack
    PlacementMap map = map(registry(9));
    MoveSlots plan = Replacement.plan(registry, map, drive(0), drive(9));
    PlacementMap next = map.after(map.epoch() + 1, moves(plan), 1, 1, false);
    for (PlacedProfile placed : map.present()) {
      assertEquals(map.slotCounts(placed).get(drive(0)), next.slotCounts(placed).get(drive(9)));
    }
    assertThrows(
        IllegalArgumentException.class,
        () -> Replacement.plan(registry, map, drive(0), drive(10)),
        "of another rack, which has slots of the same groups");
  }

  @Test
  void aRemovedProfileIsLeftOut() {
    PlacementMap map = map(registry(9));
    int groups = map.ofClass("HOT").orElseThrow().groupCount();
    var row = map.toMessage().toBuilder();
    row.getAddedBuilder(0).clearPgs().setRemovedPgs(groups);
    PlacementMap removed = PlacementMap.of(row.build());
    MoveSlots plan = PlacementPlan.plan(registry(10), removed, List.of());
    assertTrue(plan.getMovesCount() > 0);
    int end = removed.placed(0).endGroup();
    assertTrue(moves(plan).stream().allMatch(move -> move.pg() < end));
    AddedProfile again = Placement.added(registry(9), removed, "HOT", ONE_TWO);
    assertEquals(end + groups, again.getPgs(0).getPg());
    assertEquals(
        IntStream.range(end + groups, end + 2 * groups).boxed().toList(),
        again.getPgsList().stream().map(pg -> pg.getPg()).toList());
  }

  @Test
  void aStoreWithoutNodesSpreadsOverDrives() {
    Registry.Builder registry = registry(9).toBuilder().clearNodes();
    registry.getDrivesBuilderList().forEach(drive -> drive.clearNode().clearCapacityBytes());
    PlacementMap first =
        PlacementMap.of(
            Placement.first(
                registry.build().getDrivesList(), FOUR_TWO, Placement.PG_COUNT_DEFAULT));
    AddedProfile added = Placement.added(registry.build(), first, "HOT", ONE_TWO);
    assertEquals(FailureDomain.DOMAIN_DRIVE, added.getFailureDomain());
    assertEquals(Placement.PG_COUNT_DEFAULT, added.getPgsCount());
  }
}
