package dev.ashlar.server.cluster;

import dev.ashlar.protocol.message.DebtLevel;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How much more may be lost now, whichever it is, before something cannot be read: of the placement
 * group that is worst off. An object that lacks shards on drives that are up, in a group that also
 * has drives that are down, may survive less.
 *
 * @param drives below 0: so many too few are there to read everything
 * @param nodes with all their drives; below 0 likewise; null in a store without nodes
 */
public record FailureTolerance(int drives, @Nullable Integer nodes) {
  /** What it is of where drives have names, not nodes. */
  private static final String NO_NODE = "";

  /** No blob can lose more shards than it may have. */
  private static final int SPARE_MAX = Profile.MAX_SHARDS;

  /**
   * As the drives are now. Drives that were replaced count as down until all blobs that lack what
   * was on them are known.
   *
   * @param down drives that cannot be read
   * @param levels of what blobs owe
   */
  public static FailureTolerance of(KnownDrives known, Set<UUID> down, List<DebtLevel> levels) {
    PlacementMap map = known.map();
    int spareMin = levels.stream().mapToInt(DebtLevel::getSpare).reduce(SPARE_MAX, Math::min);
    Set<UUID> away = new HashSet<>(down);
    away.addAll(known.uncounted());
    Set<UUID> lost = new HashSet<>(away);
    lost.retainAll(known.holdingMisplaced());
    Map<UUID, String> nodeOf = new HashMap<>();
    for (DriveRow row : known.registry().getDrivesList()) {
      nodeOf.put(DriveId.idOf(row), row.getNode());
    }
    int drives = spareMin;
    int nodes = spareMin;
    for (int pg : map.groups()) {
      List<UUID> there = there(map, pg, away, lost);
      int spare = Math.min(spareMin, there.size() - map.profile(pg).dataShards());
      drives = Math.min(drives, spare);
      nodes = Math.min(nodes, nodes(there, nodeOf, spare));
    }
    return new FailureTolerance(drives, known.registry().getNodesCount() == 0 ? null : nodes);
  }

  /**
   * The drives of the group's slots of which nothing is away.
   *
   * @param lost drives that are down and have shards which belong elsewhere
   */
  static List<UUID> there(PlacementMap map, int pg, Set<UUID> down, Set<UUID> lost) {
    List<UUID> there = new ArrayList<>();
    for (int i = 0; i < map.slots(pg).size(); i++) {
      int slot = i;
      boolean isMoving =
          map.pastOf(pg).stream()
              .anyMatch(past -> past.slot() == slot && lost.contains(past.drive()));
      if (!isMoving && !down.contains(map.drive(pg, slot))) {
        there.add(map.drive(pg, slot));
      }
    }
    return there;
  }

  /** How many of the nodes that have most of these drives have no more than may be lost. */
  private static int nodes(List<UUID> there, Map<UUID, String> nodeOf, int spare) {
    Map<String, Integer> counts = new HashMap<>();
    there.forEach(drive -> counts.merge(nodeOf.getOrDefault(drive, NO_NODE), 1, Integer::sum));
    List<Integer> most = new ArrayList<>(counts.values());
    most.sort((one, other) -> Integer.compare(other, one));
    int nodes = 0;
    int left = spare;
    while (nodes < most.size() && most.get(nodes) <= left) {
      left -= most.get(nodes);
      nodes++;
    }
    return left < 0 ? left : nodes;
  }

  /**
   * Shows it as metrics.
   *
   * @param now null: not known
   */
  public static void measure(Supplier<@Nullable FailureTolerance> now, MeterRegistry meters) {
    KnownGauges<FailureTolerance> gauges =
        new KnownGauges<>("ashlar.cluster.failure.tolerance", now, meters);
    String description =
        "Drives or nodes that may still be lost before something becomes unreadable";
    gauges.add("", description, FailureTolerance::drives, "of", "drives");
    gauges.add("", description, FailureTolerance::nodes, "of", "nodes");
  }
}
