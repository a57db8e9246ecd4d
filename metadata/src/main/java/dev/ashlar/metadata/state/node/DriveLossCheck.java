package dev.ashlar.metadata.state.node;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.blob.Blobs;
import dev.ashlar.metadata.state.blob.Debts;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.NodeLiveness;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedSet;
import java.util.UUID;

/**
 * Decides whether a drive with an empty folder may be declared lost. It may just not be mounted,
 * and as soon as a new incarnation begins, its old content no longer counts. After a power cut this
 * may concern many drives at once, and more than m drives of a placement group must never be lost.
 *
 * <p>In each placement group of the drive, slots count whose drives are down, or lost without all
 * rows being settled. Debts in settled rows are found in the table of debts.
 */
final class DriveLossCheck {
  /**
   * The maximum of blobs that are examined: if there are more, their debts have to be repaired
   * first.
   */
  private static final int BLOBS_MAX = 5_000;

  /** The maximum of rows of the table of debts that are looked at, most of which are skipped. */
  private static final int DEBTS_MAX = 200_000;

  private final PlacementMap map;
  private final Map<UUID, DriveRow> rows = new HashMap<>();
  private final Map<String, NodeRow> nodes = new HashMap<>();

  /** Drives with relocated shards. */
  private final Set<UUID> loaded = new HashSet<>();

  private final long logTimeMs;

  private DriveLossCheck(Table table, PlacementMap map, long logTimeMs) {
    this.map = map;
    this.logTimeMs = logTimeMs;
    Registry registry = Nodes.registry(table, map);
    registry.getDrivesList().forEach(row -> rows.put(DriveId.idOf(row), row));
    registry.getNodesList().forEach(row -> nodes.put(row.getName(), row));
    registry.getLoadsList().forEach(load -> loaded.add(DriveId.idOf(load)));
  }

  /** Whether everything known to be on the drive could be rebuilt without it. */
  static boolean maySpare(ApplyContext context, UUID drive) {
    PlacementMap map = context.catalog().placement();
    if (map == null) {
      return true; // nothing was written yet
    }
    DriveLossCheck drives = new DriveLossCheck(context.table(), map, context.logTimeMs());
    int[] lostMax = new int[map.profiles().size()];
    for (PlacedProfile placed : map.present()) {
      OptionalInt lost = drives.lostMax(context, placed, drive);
      if (lost.isEmpty()) {
        return false;
      }
      lostMax[placed.number()] = lost.getAsInt();
    }
    return canRebuild(context, drive, lostMax);
  }

  /**
   * The most slots of a placement group of this profile that are lost without all rows being
   * settled; empty if a group cannot spare the drive. Groups without blobs lose nothing, so a
   * profile with less parity than others counts only as far as there is data that has it.
   */
  private OptionalInt lostMax(ApplyContext context, PlacedProfile placed, UUID drive) {
    int max = 0;
    for (int pg = placed.firstGroup(); pg < placed.endGroup(); pg++) {
      if (mayHold(pg, drive)) {
        boolean isSpared = others(pg, drive, true) < placed.profile().parityShards();
        int lost = others(pg, drive, false);
        if ((!isSpared || lost > max) && mayHaveBlobs(context, pg)) {
          if (!isSpared) {
            return OptionalInt.empty();
          }
          max = lost;
        }
      }
    }
    return OptionalInt.of(max);
  }

  private static boolean mayHaveBlobs(ApplyContext context, int pg) {
    if (context.version() < MetadataVersion.ADDS_PROFILES) {
      return true; // builds of that time did not look
    }
    try (Table.Cursor cursor = context.table().cursor(Keys.group(pg))) {
      return cursor.isValid();
    }
  }

  private boolean mayHold(int pg, UUID drive) {
    boolean wasThere = map.pastOf(pg).stream().anyMatch(before -> before.drive().equals(drive));
    return map.slots(pg).contains(drive) || (wasThere && isHolding(drive));
  }

  /** The drives that may have shards of this slot. */
  private Set<UUID> places(int pg, int slot) {
    Set<UUID> places = new HashSet<>();
    places.add(map.drive(pg, slot));
    for (PlacementMap.Past before : map.pastOf(pg)) {
      if (before.slot() == slot && isHolding(before.drive())) {
        places.add(before.drive());
      }
    }
    return places;
  }

  /** Whether the drive may have relocated shards. */
  private boolean isHolding(UUID drive) {
    DriveRow row = rows.get(drive);
    return loaded.contains(drive) || (row != null && row.getUnsettled());
  }

  /**
   * The slots of the placement group that may have their shards on other, lost drives.
   *
   * @param orAway whether drives that are down count as well
   */
  private int others(int pg, UUID drive, boolean orAway) {
    int others = 0;
    for (int slot = 0; slot < map.profile(pg).shards(); slot++) {
      boolean isOne =
          places(pg, slot).stream()
              .filter(place -> !place.equals(drive))
              .anyMatch(place -> isTakenForLost(place) || (orAway && isAway(place)));
      others += isOne ? 1 : 0;
    }
    return others;
  }

  /** Whether the drive is lost and not all rows are settled since. */
  private boolean isTakenForLost(UUID drive) {
    DriveRow row = rows.get(drive);
    return row != null
        && row.getUnsettled()
        && (row.getReplacedAt() > 0 || row.getStanding() == DriveStanding.STANDING_OUT);
  }

  /**
   * Whether the drive is down. Silence counts even if no node was heard, as after a power cut: live
   * nodes will be heard soon.
   */
  private boolean isAway(UUID drive) {
    DriveRow row = rows.get(drive);
    if (row == null) {
      return false;
    }
    NodeRow node = nodes.get(row.getNode());
    return row.getAbsent()
        || row.getStanding() == DriveStanding.STANDING_OUT
        || (node != null && !NodeLiveness.isUp(node, logTimeMs));
  }

  /**
   * Whether no blob with debts needs its shard on the drive. A blob that can lose more shards than
   * its profile has debts which the table does not contain is safe; so is one that only has to
   * move, which its placement group has shown.
   *
   * @param unnoted per profile, the maximum of debts of a blob that the table does not contain yet
   */
  private static boolean canRebuild(ApplyContext context, UUID drive, int[] unnoted) {
    int unnotedMax = Arrays.stream(unnoted).max().orElse(0);
    int looked = 0;
    int passed = 0;
    try (Table.Cursor cursor = context.table().cursor(Keys.table('E'))) {
      for (; cursor.isValid(); cursor.next()) {
        Debts.Entry entry = Debts.Entry.of(cursor.key(), cursor.value());
        if (entry.spare() > unnotedMax) {
          return true; // blobs with the least spare come first
        }
        if (++passed > DEBTS_MAX) {
          return false;
        }
        if (entry.spare() > unnoted[entry.id().profile()]) {
          continue;
        }
        Optional<BlobRow> row = Blobs.find(context, entry.id().toMessage());
        looked++;
        if (looked > BLOBS_MAX || (row.isPresent() && needs(context, row.get(), drive))) {
          return false;
        }
      }
    }
    return true;
  }

  /** Whether the blob would lose one shard too many with the drive. */
  private static boolean needs(ApplyContext context, BlobRow row, UUID drive) {
    PlacementMap map = context.placement();
    StripeLayout layout = Debts.layout(row);
    SortedSet<Integer> debts = Debts.slots(context, row);
    int lost = debts.size();
    boolean isThere = false;
    for (int slot = 0; slot < layout.profile().shards(); slot++) {
      if (!debts.contains(slot) && layout.shardLength(slot) > 0) {
        UUID place = map.location(row, slot);
        isThere |= place.equals(drive);
        lost += !place.equals(drive) && context.catalog().isOut(place) ? 1 : 0;
      }
    }
    return isThere && lost >= Profile.of(row.getProfile()).parityShards();
  }
}
