package dev.ashlar.metadata.state.node;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.apply.Sessions;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.AppliedRow;
import dev.ashlar.protocol.message.BalanceRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DriveLoad;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.NodeHeartbeat;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.RegisterNode;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.NodeLiveness;
import dev.ashlar.protocol.model.PlacementMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Commands on the nodes of a cluster: their addresses, drives and heartbeats. */
public final class Nodes {
  private Nodes() {}

  public static CommandResult register(ApplyContext context, long session, RegisterNode command) {
    NodeRow node = command.getNode();
    List<DriveRow> drives =
        command.getDrivesList().stream()
            .map(drive -> drive.toBuilder().setNode(node.getName()).build())
            .toList();
    require(!node.getName().isEmpty(), ResultCode.INVALID_COMMAND);
    require(drives.isEmpty() == (node.getPort() == 0), ResultCode.INVALID_COMMAND);
    Profiles.checkKnown(context, node);
    EncryptionUse.checkKnown(context, node);
    Optional<NodeRow> present = context.table().row(Keys.node(node.getName()), NodeRow.parser());
    present.ifPresent(row -> checkTakenOver(context, session, row, node));
    drives.forEach(drive -> checkOwn(context, drive));
    List<DriveRow> vacant = drives.stream().filter(DriveRow::getVacant).toList();
    List<DriveRow> there = drives.stream().filter(drive -> !drive.getVacant()).toList();
    ClusterRows.checkLives(context.catalog().drives(), vacant);
    Map<UUID, DriveId> all = ClusterRows.with(context.catalog().drives(), there);
    present
        .map(NodeRow::getSession)
        .filter(before -> before != session)
        .ifPresent(before -> context.sessions().end(context, before));
    forgetGateways(context, session);
    put(context, node.toBuilder().setSession(session).setHeartbeatMs(context.logTimeMs()));
    if (!drives.isEmpty()) {
      ClusterRows.put(context, all, there);
      markAbsent(context, node.getName(), there);
      vacant.forEach(drive -> begin(context, drive));
    } else if (context.version() >= MetadataVersion.MISSES_ALL_DRIVES) {
      markAbsent(context, node.getName(), List.of());
    }
    return ApplyContext.OK;
  }

  /**
   * Lets a vacant drive begin a new incarnation if its data can be rebuilt; otherwise it stays
   * absent. Drives are decided one after the other, because each lost one counts for the next.
   */
  static void begin(ApplyContext context, DriveRow vacant) {
    UUID id = DriveId.idOf(vacant);
    Optional<DriveRow> known = context.drive(id);
    if (known.isPresent() && DriveLossCheck.maySpare(context, id)) {
      DriveRow begun =
          known.get().toBuilder().setIncarnation(vacant.getIncarnation()).clearAbsent().build();
      ClusterRows.put(
          context, ClusterRows.with(context.catalog().drives(), List.of(begun)), List.of(begun));
    }
  }

  /** Marks the drives absent without which the node has started. */
  private static void markAbsent(ApplyContext context, String node, List<DriveRow> present) {
    Set<UUID> ids = present.stream().map(DriveId::idOf).collect(Collectors.toSet());
    List<DriveRow> absent = context.table().rows('V', DriveRow.parser());
    absent.removeIf(row -> !row.getNode().equals(node) || ids.contains(DriveId.idOf(row)));
    for (DriveRow row : absent) {
      context.put(ClusterRows.marked(context, row, row.toBuilder().setAbsent(true).build()));
    }
  }

  /** A process at the same address is the only one there; at another address, two could run. */
  private static void checkTakenOver(
      ApplyContext context, long session, NodeRow present, NodeRow node) {
    boolean isSamePlace =
        present.getHost().equals(node.getHost()) && present.getPort() == node.getPort();
    require(
        isSamePlace || present.getSession() == session || isSilent(context, present),
        ResultCode.CONDITIONAL_CONFLICT);
  }

  /** Whether nothing was heard of a node for so long that it counts as down. */
  static boolean isSilent(ApplyContext context, NodeRow node) {
    return context.silentSinceMs(node) + NodeLiveness.DOWN_MS < context.logTimeMs();
  }

  /** A drive stays with its node, because its id is derived from the node's name. */
  private static void checkOwn(ApplyContext context, DriveRow drive) {
    context
        .drive(DriveId.idOf(drive))
        .ifPresent(
            known -> require(known.getNode().equals(drive.getNode()), ResultCode.INVALID_COMMAND));
  }

  /**
   * Removes the rows of gateways that are gone, because gateways may have a new name at each start.
   * Their sessions end, as do those of gone nodes that were also gateways, so that nothing waits
   * for their writes. Nodes with drives only write no blobs. Sessions that never became a node end
   * as well; a store in one process has no nodes and is not affected.
   *
   * @param session the live session of the caller
   */
  private static void forgetGateways(ApplyContext context, long session) {
    Set<Long> used = new HashSet<>(Set.of(session));
    for (NodeRow row : context.table().rows('N', NodeRow.parser())) {
      used.add(row.getSession());
      boolean isGone = context.silentSinceMs(row) + NodeLiveness.FORGOTTEN_MS < context.logTimeMs();
      if (isGone && row.getPort() == 0) {
        context.table().delete(Keys.node(row.getName()));
      }
      long own = row.getSession();
      if (isGone && row.getGateway() && own != session && context.sessions().isLive(own)) {
        context.sessions().end(context, own);
      }
    }
    context.sessions().endUnused(context, used);
  }

  public static CommandResult heartbeat(ApplyContext context, long session, NodeHeartbeat command) {
    NodeRow node =
        require(
            context.table().row(Keys.node(command.getName()), NodeRow.parser()),
            ResultCode.CONDITIONAL_CONFLICT);
    require(node.getSession() == session, ResultCode.CONDITIONAL_CONFLICT);
    forgetGateways(context, session);
    put(
        context,
        node.toBuilder()
            .setHeartbeatMs(context.logTimeMs())
            .setOldestReadMs(command.getOldestReadMs()));
    return ApplyContext.OK;
  }

  private static void put(ApplyContext context, NodeRow.Builder row) {
    context.table().put(Keys.node(row.getName()), row.build().toByteArray());
  }

  public static Registry registry(Table snapshot, @Nullable PlacementMap map) {
    Registry.Builder registry = Registry.newBuilder();
    if (map != null) {
      registry.setEpoch(map.epoch()).setProfile(map.profiles().getFirst().profile().toMessage());
    }
    registry
        .addAllNodes(snapshot.rows('N', NodeRow.parser()))
        .addAllSessions(Sessions.all(snapshot))
        .addAllDrives(snapshot.rows('V', DriveRow.parser()))
        .addAllLoads(snapshot.rows('Q', DriveLoad.parser()));
    snapshot
        .row(Keys.balance(), BalanceRow.parser())
        .ifPresent(row -> registry.setPaused(row.getPaused()).setRestored(row.getRestored()));
    snapshot
        .row(Keys.applied(), AppliedRow.parser())
        .ifPresent(applied -> registry.setLogTimeMs(applied.getTimeMs()));
    return registry.build();
  }
}
