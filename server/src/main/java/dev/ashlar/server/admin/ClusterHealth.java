package dev.ashlar.server.admin;

import dev.ashlar.metadata.consensus.QuorumPeer;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.server.cluster.ClusterView;
import dev.ashlar.server.cluster.DataRisk;
import dev.ashlar.server.cluster.KnownDrives;
import dev.ashlar.server.cluster.Protection;
import dev.ashlar.server.config.ClusterOptions;
import dev.ashlar.server.config.ServerRole;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What {@code /health} tells of one process of a cluster. Its form is a promise to scripts: fields
 * may be added, those that are there stay.
 *
 * @param reads by a gateway; null where the process is none
 * @param writes likewise
 * @param drives of the cluster at a gateway, as NODE/DRIVE, else those of the process by folder
 * @param nodesDown storage nodes that have not been heard of for some seconds, though their drives
 *     have slots or hold something, at a gateway
 * @param metadataAnswers whether a gateway has just heard of the metadata group, without which it
 *     serves nothing; null where the process is none
 * @param metadata null where the process is no metadata node
 * @param protection by a gateway; null where the process is none
 * @param risk likewise
 */
public record ClusterHealth(
    Health.Status status,
    String cluster,
    String node,
    List<String> roles,
    Health.@Nullable Extent reads,
    Health.@Nullable Extent writes,
    Health.Drives drives,
    List<String> nodesDown,
    @Nullable Boolean metadataAnswers,
    @Nullable Peer metadata,
    @Nullable Protection protection,
    @Nullable DataRisk risk)
    implements RunningServer.HealthPage {
  public ClusterHealth {
    roles = List.copyOf(roles);
    nodesDown = List.copyOf(nodesDown);
  }

  /**
   * The metadata peer of the process.
   *
   * @param takesPart in the group, at least as one that is catching up
   * @param trouble what keeps it from that; empty: nothing
   */
  public record Peer(String standing, boolean takesPart, boolean leads, String trouble) {
    public static Peer of(QuorumPeer.Status status) {
      return new Peer(status.standing(), status.isRunning(), status.isLeader(), status.trouble());
    }
  }

  public static List<String> names(Collection<ServerRole> roles) {
    return roles.stream().sorted().map(role -> role.name().toLowerCase(Locale.ROOT)).toList();
  }

  /** Of a process without a gateway: whether its own drives and its metadata peer do their part. */
  public static ClusterHealth ofOthers(
      ClusterOptions cluster, Health.Drives drives, @Nullable Peer metadata) {
    boolean isWhole =
        (metadata == null || metadata.takesPart()) && drives.writable() == drives.total();
    return new ClusterHealth(
        isWhole ? Health.Status.UP : Health.Status.DEGRADED,
        cluster.name(),
        cluster.node(),
        names(cluster.roles()),
        null,
        null,
        drives,
        List.of(),
        null,
        metadata,
        null,
        null);
  }

  public static ClusterHealth ofGateway(
      ClusterOptions cluster, PlacementMap map, ClusterView view, @Nullable Peer metadata) {
    Protection protection = view.protection();
    Health.DriveSurvey reached = survey(map, view);
    boolean answers = view.isFresh();
    Health.Extent reads =
        extent(answers, map, reached.open(), Profile::dataShards).ifAll(view.risk());
    Health.Extent writes = extent(answers, map, reached.writable(), Profile::durableMinimum);
    List<String> down = new KnownDrives(view.registry(), map).nodesMissed();
    Health.Drives summary = reached.drives();
    boolean isWhole =
        (metadata == null || metadata.takesPart())
            && summary.writable() == summary.total()
            && down.isEmpty()
            && protection.holdsAllShards();
    return new ClusterHealth(
        reads == Health.Extent.NONE
            ? Health.Status.DOWN
            : isWhole ? Health.Status.UP : Health.Status.DEGRADED,
        cluster.name(),
        cluster.node(),
        names(cluster.roles()),
        reads,
        writes,
        summary,
        down,
        answers,
        metadata,
        protection,
        view.risk());
  }

  /** For how many placement groups enough drives are able: for none where metadata is not. */
  private static Health.Extent extent(
      boolean hasMetadata, PlacementMap map, Set<UUID> able, ToIntFunction<Profile> needed) {
    if (!hasMetadata) {
      return Health.Extent.NONE;
    }
    long groups = 0;
    for (PlacedProfile placed : map.present()) {
      int least = needed.applyAsInt(placed.profile());
      groups +=
          map.slotDrives().subList(placed.firstGroup(), placed.endGroup()).stream()
              .filter(slots -> slots.stream().filter(able::contains).count() >= least)
              .count();
    }
    return groups == map.groups().size()
        ? Health.Extent.ALL
        : groups == 0 ? Health.Extent.NONE : Health.Extent.SOME;
  }

  /** What a gateway can do with the drives of the map. */
  private static Health.DriveSurvey survey(PlacementMap map, ClusterView view) {
    Set<UUID> used = map.slotDrives().stream().flatMap(List::stream).collect(Collectors.toSet());
    Health.DriveSurvey reached = new Health.DriveSurvey();
    for (DriveRow row : view.registry().getDrivesList()) {
      UUID id = DriveId.of(row).id();
      if (used.contains(id)) {
        // A node that has come without it connects nevertheless.
        reached.add(id, row.getNode() + "/" + id, row.getAbsent() ? null : view.reached(id));
      }
    }
    return reached;
  }
}
