package dev.ashlar.metadata.placement;

import dev.ashlar.metadata.placement.SlotExchanges.Swap;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.PlacementMap.Move;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Finds moves to a computed map that need not be made, because no drive would get a better share
 * and no placement group would be spread over more failure domains. So a map that differs because a
 * drive replaced another is as good as the computed one.
 */
final class SparedMoves {
  /** Shares may differ by this much from the ideal. */
  private static final double TOLERANCE = 0.1;

  private final PlacementMap present;
  private final PlacementMap next;
  private final Map<UUID, String> domains = new HashMap<>();
  private final Map<UUID, Double> ideal = new HashMap<>();
  private final Map<UUID, Long> slots;
  private final Map<UUID, Long> slotsNext;

  /**
   * @param drives all of them, with their failure domains
   */
  SparedMoves(PlacementMap present, PlacementMap next, List<DriveRow> drives) {
    this.present = present;
    this.next = next;
    slots = present.slotCounts();
    slotsNext = next.slotCounts();
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
          if (ofGroup.size() == 1 && ideal.containsKey(from) && !isSpreadFurther(pg)) {
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

  private boolean isSpreadFurther(int pg) {
    return spread(next, pg) > spread(present, pg);
  }

  private long spread(PlacementMap map, int pg) {
    return map.slotDrives().get(pg).stream().map(domains::get).distinct().count();
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
