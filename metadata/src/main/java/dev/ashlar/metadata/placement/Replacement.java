package dev.ashlar.metadata.placement;

import static java.util.Objects.requireNonNull;

import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.FailureDomain;
import dev.ashlar.protocol.message.MoveSlots;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.PlacementMap.Move;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Replaces a drive by another: the new drive gets the slots of the old one, and its own slots go
 * back to their previous drives, as far as these are still known.
 */
public final class Replacement {
  /** Drives of one make differ by little. */
  private static final double SMALLER_MAX = 0.05;

  private final PlacementMap map;
  private final DriveRow old;
  private final DriveRow by;
  private final UUID oldId;
  private final UUID byId;
  private final Map<UUID, DriveRow> drives = new HashMap<>();

  /** The failure domains of all drives, of each level that a profile has. */
  private final Map<FailureDomain, Map<UUID, String>> domains = new EnumMap<>(FailureDomain.class);

  private final List<List<UUID>> groups = new ArrayList<>();
  private final List<Move> moves = new ArrayList<>();

  /** Slots that the new drive had received from the old one. */
  private long inherited;

  private Replacement(Registry registry, PlacementMap map, UUID oldId, UUID byId) {
    this.map = map;
    this.oldId = oldId;
    this.byId = byId;
    registry.getDrivesList().forEach(row -> drives.put(DriveId.idOf(row), row));
    FailureDomains all = new FailureDomains(registry);
    for (PlacedProfile placed : map.present()) {
      domains.computeIfAbsent(
          placed.failureDomain(),
          level ->
              all.drives(level).stream()
                  .collect(Collectors.toMap(DriveId::idOf, DriveRow::getFailureDomain)));
    }
    old = row(oldId);
    by = row(byId);
    map.slotDrives().forEach(slots -> groups.add(new ArrayList<>(slots)));
  }

  /**
   * The command for the replacement. The old drive is draining from then on, or stays out.
   *
   * @param map not older than the registry
   * @throws IllegalArgumentException when the new drive cannot replace the old one; the message
   *     gives the reason
   */
  public static MoveSlots plan(Registry registry, PlacementMap map, UUID old, UUID by) {
    Replacement replacement = new Replacement(registry, map, old, by);
    replacement.check();
    replacement.giveBack();
    replacement.takeOver();
    DriveRow leaving =
        replacement.old.toBuilder()
            .setStanding(
                replacement.old.getStanding() == DriveStanding.STANDING_OUT
                    ? DriveStanding.STANDING_OUT
                    : DriveStanding.STANDING_DRAINING)
            .setOutByItself(false)
            .build();
    return PlacementPlan.command(map, List.of(leaving), replacement.moves);
  }

  private DriveRow row(UUID id) {
    DriveRow row = drives.get(id);
    if (row == null) {
      throw new IllegalArgumentException("there is no drive " + id);
    }
    return row;
  }

  private void check() {
    if (oldId.equals(byId)) {
      throw new IllegalArgumentException("a drive cannot replace itself");
    }
    if (by.getStanding() != DriveStanding.STANDING_IN) {
      throw new IllegalArgumentException("drive " + byId + " is being drained or out itself");
    }
    if (slots(oldId) == 0) {
      throw new IllegalArgumentException("drive " + oldId + " has no slots any more");
    }
  }

  private long slots(UUID drive) {
    return groups.stream().filter(group -> group.contains(drive)).count();
  }

  /** Gives the new drive's own slots back. */
  private void giveBack() {
    long most = PlacementPlan.MOVES_MAX - slots(oldId);
    for (int pg = 0; pg < groups.size() && moves.size() < most; pg++) {
      int slot = groups.get(pg).indexOf(byId);
      UUID before = slot < 0 ? null : before(pg, slot);
      inherited += oldId.equals(before) ? 1 : 0;
      DriveRow row = before == null ? null : drives.get(before);
      if (before != null
          && row != null
          && row.getStanding() == DriveStanding.STANDING_IN
          && !before.equals(oldId)
          && !groups.get(pg).contains(before)) {
        move(pg, slot, before);
      }
    }
  }

  private @Nullable UUID before(int pg, int slot) {
    UUID before = null;
    for (PlacementMap.Past past : map.pastOf(pg)) {
      before = past.slot() == slot ? past.drive() : before;
    }
    return before;
  }

  private void takeOver() {
    long had = slots(oldId);
    double needed = (double) (had + slots(byId)) / (had + inherited) * Placement.weight(old);
    if (Placement.weight(by) < (1 - SMALLER_MAX) * needed) {
      throw new IllegalArgumentException(
          String.format(
              "drive %s is too small: it has %d bytes and needs %.0f",
              byId, by.getCapacityBytes(), needed));
    }
    for (int pg = 0; pg < groups.size(); pg++) {
      List<UUID> group = groups.get(pg);
      int slot = group.indexOf(oldId);
      if (slot >= 0
          && !group.contains(byId)) { // otherwise another drive gets the slot, as in a drain
        checkDomain(pg, group);
        move(pg, slot, byId);
      }
    }
  }

  /** A domain must not get more slots of a placement group than the old drive's domain had. */
  private void checkDomain(int pg, List<UUID> group) {
    Map<UUID, String> domainOf = requireNonNull(domains.get(map.placed(pg).failureDomain()));
    String domain = requireNonNull(domainOf.get(byId));
    String domainBefore = requireNonNull(domainOf.get(oldId));
    boolean isSame = domain.equals(domainBefore);
    if (!isSame && count(group, domainOf, domain) >= count(group, domainOf, domainBefore)) {
      throw new IllegalArgumentException(
          "the failure domain of drive "
              + byId
              + ", "
              + domain
              + ", has other slots of the placement groups of drive "
              + oldId
              + ": it would get several slots of one placement group");
    }
  }

  private static long count(List<UUID> group, Map<UUID, String> domainOf, String domain) {
    return group.stream().filter(drive -> domain.equals(domainOf.get(drive))).count();
  }

  private void move(int pg, int slot, UUID drive) {
    groups.get(pg).set(slot, drive);
    moves.add(new Move(pg, slot, drive));
  }
}
