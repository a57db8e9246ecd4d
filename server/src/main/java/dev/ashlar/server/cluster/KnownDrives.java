package dev.ashlar.server.cluster;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.NodeLiveness;
import dev.ashlar.protocol.model.PlacementMap;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;

/**
 * The drives of a cluster as metadata tells of them.
 *
 * @param map not older than the registry
 */
public record KnownDrives(Registry registry, PlacementMap map) {
  /** As metadata knows them now. */
  public static KnownDrives of(MetadataClient metadata) throws MetadataUnavailableException {
    Registry registry = metadata.registry();
    return new KnownDrives(registry, metadata.placement(registry.getEpoch()));
  }

  /** Drives whose node is not heard of, or has come without them. */
  Set<UUID> down() {
    Set<String> up = new HashSet<>();
    for (NodeRow node : registry.getNodesList()) {
      if (isUp(node)) {
        up.add(node.getName());
      }
    }
    Set<UUID> down = new HashSet<>();
    for (DriveRow row : registry.getDrivesList()) {
      boolean isOfNode = !row.getNode().isEmpty();
      if (isOfNode && (row.getAbsent() || !up.contains(row.getNode()))) {
        down.add(DriveId.idOf(row));
      }
    }
    return down;
  }

  private boolean isUp(NodeRow node) {
    return NodeLiveness.isUp(node, registry.getLogTimeMs());
  }

  /** Live nodes whose builds cannot tell blobs of several profiles apart, by name. */
  public List<String> nodesWithoutProfiles() {
    return registry.getNodesList().stream()
        .filter(node -> isUp(node) && !node.getKnowsProfiles())
        .map(NodeRow::getName)
        .toList();
  }

  /** These, and all others of which this holds. */
  public Set<UUID> downOr(Predicate<UUID> condition) {
    Set<UUID> drives = down();
    registry.getDrivesList().stream().map(DriveId::idOf).filter(condition).forEach(drives::add);
    return drives;
  }

  /** Drives that blobs may lack shards of, and do not tell yet: replaced ones, and lost ones. */
  Set<UUID> uncounted() {
    Set<UUID> uncounted = new HashSet<>();
    registry.getDrivesList().stream()
        .filter(KnownDrives::isUncounted)
        .forEach(row -> uncounted.add(DriveId.idOf(row)));
    return uncounted;
  }

  /**
   * Also of one that was replaced long ago: whether that was noted before it changed is not known.
   */
  static boolean isUncounted(DriveRow row) {
    boolean isLost = row.getReplacedAt() > 0 || row.getStanding() == DriveStanding.STANDING_OUT;
    return row.getUnsettled() && isLost;
  }

  /** Drives of which anything would be missed: what is drained, or made anew elsewhere, is not. */
  public Set<UUID> holding() {
    Set<UUID> holding = holdingMisplaced();
    map.slotDrives().forEach(holding::addAll);
    return holding;
  }

  /** Drives that have, or may have, shards that belong elsewhere. */
  Set<UUID> holdingMisplaced() {
    Set<UUID> holding = new HashSet<>();
    registry.getLoadsList().forEach(load -> holding.add(DriveId.idOf(load)));
    registry.getDrivesList().stream()
        .filter(DriveRow::getUnsettled)
        .forEach(row -> holding.add(DriveId.idOf(row)));
    return holding;
  }

  /** Nodes that are not heard of and have drives of which anything is missed, by name. */
  public List<String> nodesMissed() {
    Set<UUID> holding = holding();
    Set<String> needed = new HashSet<>();
    for (DriveRow row : registry.getDrivesList()) {
      if (holding.contains(DriveId.idOf(row))) {
        needed.add(row.getNode());
      }
    }
    return registry.getNodesList().stream()
        .filter(node -> !isUp(node))
        .map(NodeRow::getName)
        .filter(needed::contains)
        .toList();
  }
}
