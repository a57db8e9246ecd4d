package dev.ashlar.metadata.placement;

import dev.ashlar.metadata.placement.SlotExchanges.Swap;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.MoveSlots;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.message.SlotMove;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.PlacementMap.Move;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Plans the fewest moves after which all drives that are in have their share of the slots, and the
 * others none.
 */
public final class PlacementPlan {
  /** The maximum of moves per command; the rest follows in the next epoch. */
  static final int MOVES_MAX = 8_000;

  private PlacementPlan() {}

  /**
   * The command that brings the map nearer to the planned one; without changed drives and moves if
   * nothing is to be done.
   *
   * @param map not older than the registry
   * @param changed drives with their new standing
   * @throws IllegalArgumentException when fewer drives would be in than there are slots
   */
  public static MoveSlots plan(Registry registry, PlacementMap map, List<DriveRow> changed) {
    Map<UUID, DriveRow> changes = new HashMap<>();
    changed.forEach(row -> changes.put(DriveId.idOf(row), row));
    Registry.Builder after = registry.toBuilder().clearDrives();
    registry
        .getDrivesList()
        .forEach(row -> after.addDrives(changes.getOrDefault(DriveId.idOf(row), row)));
    Registry wanted = after.build();
    FailureDomains domains = new FailureDomains(wanted);
    PlacementMap next =
        PlacementMap.of(
            Placement.next(
                level -> domains.drives(level).stream().filter(SparedMoves::isIn).toList(),
                map.toMessage()));
    Set<UUID> leaving = new HashSet<>();
    for (DriveRow row : wanted.getDrivesList()) {
      if (row.getStanding() != DriveStanding.STANDING_IN) {
        leaving.add(DriveId.idOf(row));
      }
    }
    List<SparedMoves> spared =
        map.present().stream().map(placed -> new SparedMoves(map, next, placed, domains)).toList();
    return command(map, changed, some(map, next, leaving, spared, registry));
  }

  static MoveSlots command(PlacementMap map, List<DriveRow> changed, List<Move> moves) {
    MoveSlots.Builder command =
        MoveSlots.newBuilder().setBaseEpoch(map.epoch()).addAllDrives(changed);
    for (Move move : moves) {
      command.addMoves(
          SlotMove.newBuilder()
              .setPg(move.pg())
              .setSlot(move.slot())
              .setDriveHigh(move.drive().getMostSignificantBits())
              .setDriveLow(move.drive().getLeastSignificantBits()));
    }
    return command.build();
  }

  /** The moves of whole placement groups, first those of drives that are to have no slots. */
  private static List<Move> some(
      PlacementMap map,
      PlacementMap next,
      Set<UUID> leaving,
      List<SparedMoves> spared,
      Registry registry) {
    if (registry.getRestored()) {
      return List.of(); // until the loss is accepted, shards stay where other metadata knows them
    }
    List<Move> needed = new ArrayList<>();
    List<Move> others = new ArrayList<>();
    Map<Integer, List<Move>> byGroup = new HashMap<>();
    for (Move move : map.movesTo(next)) {
      boolean isNeeded = leaving.contains(map.drive(move.pg(), move.slot()));
      if (isNeeded || !registry.getPaused()) {
        byGroup.computeIfAbsent(move.pg(), pg -> new ArrayList<>()).add(move);
      }
    }
    spared.forEach(each -> byGroup.keySet().removeAll(each.groups(byGroup)));
    byGroup.forEach(
        (pg, moves) -> {
          boolean isNeeded =
              moves.stream().anyMatch(move -> leaving.contains(map.drive(pg, move.slot())));
          (isNeeded ? needed : others).addAll(moves);
        });
    needed.addAll(others);
    if (needed.size() <= MOVES_MAX) {
      return needed;
    }
    int end = MOVES_MAX;
    while (end < needed.size() && needed.get(end).pg() == needed.get(end - 1).pg()) {
      end++;
    }
    return needed.subList(0, end);
  }

  /**
   * Finds moves of one profile to a computed map that need not be made, because no drive would get
   * a better share and no placement group would be spread over more failure domains. So a map that
   * differs because a drive replaced another is as good as the computed one.
   */
  private static final class SparedMoves {
    /** Shares may differ by this much from the ideal. */
    private static final double TOLERANCE = 0.1;

    private final PlacementMap present;
    private final PlacementMap next;
    private final PlacedProfile placed;
    private final Map<UUID, String> domains = new HashMap<>();
    private final Map<UUID, Double> ideal = new HashMap<>();
    private final Map<UUID, Long> slots;
    private final Map<UUID, Long> slotsNext;

    SparedMoves(PlacementMap present, PlacementMap next, PlacedProfile placed, FailureDomains of) {
      this.present = present;
      this.next = next;
      this.placed = placed;
      List<DriveRow> drives = of.drives(placed.failureDomain());
      slots = present.slotCounts(placed);
      slotsNext = next.slotCounts(placed);
      double all = 0;
      for (DriveRow row : drives) {
        domains.put(DriveId.idOf(row), row.getFailureDomain());
        all += isIn(row) ? Placement.weight(row) : 0;
      }
      double slotCount = slots.values().stream().mapToLong(Long::longValue).sum();
      for (DriveRow row : drives) {
        if (isIn(row)) {
          ideal.put(DriveId.idOf(row), slotCount * Placement.weight(row) / all);
        }
      }
    }

    private static boolean isIn(DriveRow row) {
      return row.getStanding() == DriveStanding.STANDING_IN;
    }

    /** The placement groups, of those with these moves, that may as well stay as they are. */
    Set<Integer> groups(Map<Integer, List<Move>> moves) {
      Map<Integer, Swap> swaps = new HashMap<>();
      moves.forEach(
          (pg, ofGroup) -> {
            Move move = ofGroup.getFirst();
            UUID from = present.drive(pg, move.slot());
            if (placed.hasGroup(pg)
                && ofGroup.size() == 1
                && ideal.containsKey(from)
                && spread(next, pg) <= spread(present, pg)) {
              swaps.put(pg, new Swap(from, move.drive()));
            }
          });
      Set<Integer> spared = new HashSet<>(SlotExchanges.circular(swaps));
      swaps.forEach(
          (pg, swap) -> {
            if (hasEnough(swap.to()) && !hasTooMuch(swap.from())) {
              spared.add(pg);
            }
          });
      return spared;
    }

    private long spread(PlacementMap map, int pg) {
      return map.slots(pg).stream().map(domains::get).distinct().count();
    }

    private boolean hasEnough(UUID drive) {
      double wanted = Math.min(ideal.getOrDefault(drive, 0.0), slotsNext.getOrDefault(drive, 0L));
      return slots.getOrDefault(drive, 0L) >= (1 - TOLERANCE) * wanted;
    }

    private boolean hasTooMuch(UUID drive) {
      double wanted = Math.max(ideal.getOrDefault(drive, 0.0), slotsNext.getOrDefault(drive, 0L));
      return slots.getOrDefault(drive, 0L) > (1 + TOLERANCE) * wanted;
    }
  }
}
