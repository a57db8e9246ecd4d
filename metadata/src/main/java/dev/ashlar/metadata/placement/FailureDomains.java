package dev.ashlar.metadata.placement;

import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.FailureDomain;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.model.DriveId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The failure domains of drives: node, rack or zone, from the labels of the nodes. */
public final class FailureDomains {
  private static final List<FailureDomain> WIDEST_FIRST =
      List.of(FailureDomain.DOMAIN_ZONE, FailureDomain.DOMAIN_RACK, FailureDomain.DOMAIN_NODE);

  private final Map<String, NodeRow> nodes = new HashMap<>();
  private final List<DriveRow> drives;

  public FailureDomains(Registry registry) {
    registry.getNodesList().forEach(node -> nodes.put(node.getName(), node));
    drives = registry.getDrivesList();
  }

  /**
   * The widest domains of which there are enough for all slots, so that the loss of one costs one
   * slot. If there are not even enough nodes, nodes: each then gets several slots, as evenly as
   * possible.
   */
  public FailureDomain widest(int slots) {
    return WIDEST_FIRST.stream()
        .filter(level -> count(level) >= slots)
        .findFirst()
        .orElse(FailureDomain.DOMAIN_NODE);
  }

  /** The number of domains of this level; 0 if a node with drives has no such label. */
  private int count(FailureDomain level) {
    Set<String> names = new HashSet<>();
    for (DriveRow drive : drives) {
      if (!isLabelled(level, node(drive))) {
        return 0;
      }
      names.add(name(level, drive));
    }
    return names.size();
  }

  /** All drives with their domains of this level. */
  public List<DriveRow> drives(FailureDomain level) {
    return drives.stream()
        .map(drive -> drive.toBuilder().setFailureDomain(name(level, drive)).build())
        .collect(Collectors.toUnmodifiableList());
  }

  private static boolean isLabelled(FailureDomain level, NodeRow node) {
    return switch (level) {
      case DOMAIN_RACK -> !node.getRack().isEmpty();
      case DOMAIN_ZONE -> !node.getZone().isEmpty();
      case DOMAIN_DRIVE, DOMAIN_NODE, UNRECOGNIZED -> true;
    };
  }

  /** Racks of different zones may have the same label. */
  private String name(FailureDomain level, DriveRow drive) {
    return switch (level) {
      case DOMAIN_DRIVE -> DriveId.idOf(drive).toString(); // also in a store without nodes
      case DOMAIN_NODE -> node(drive).getName();
      case DOMAIN_RACK -> node(drive).getZone() + "/" + node(drive).getRack();
      case DOMAIN_ZONE -> node(drive).getZone();
      case UNRECOGNIZED -> throw new IllegalArgumentException("unknown level of failure domains");
    };
  }

  private NodeRow node(DriveRow drive) {
    NodeRow node = nodes.get(drive.getNode());
    if (node == null) {
      throw new IllegalArgumentException("drive " + DriveId.idOf(drive) + " has no node");
    }
    return node;
  }
}
