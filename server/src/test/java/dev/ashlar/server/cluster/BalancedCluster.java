package dev.ashlar.server.cluster;

import dev.ashlar.blob.repair.GroupDebts;
import dev.ashlar.blob.scrub.ShardVerification;
import dev.ashlar.gateway.encryption.key.KeyWrapping;
import dev.ashlar.gateway.encryption.key.KmsKeys;
import dev.ashlar.gateway.encryption.key.MasterKeys;
import dev.ashlar.gateway.principal.SecretSeals;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.placement.FailureDomains;
import dev.ashlar.metadata.placement.Placement;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.FailureDomain;
import dev.ashlar.protocol.message.NodeHeartbeat;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.RegisterNode;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.DriveSettlement;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.server.account.Accounts;
import dev.ashlar.server.admin.Admin;
import dev.ashlar.server.admin.DriveChanges;
import dev.ashlar.server.admin.Locator;
import dev.ashlar.server.jobs.KeyRenewal;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Nodes named node-0, node-1 and so on over the real apply, whose time is moved by hand: those that
 * are up say so, and a {@link ClusterBalance} looks every two seconds.
 */
public final class BalancedCluster {
  public static final Profile PROFILE = new Profile(4, 2, 16384);
  public static final Duration OUT_AFTER = Duration.ofSeconds(60);
  private static final int GROUPS = 60;
  private static final int LOOK_SECONDS = 2;

  public final ManualClock clock = new ManualClock(1_000_000);
  public final MemoryMetadata metadata = new MemoryMetadata(clock);
  public boolean isItsTurn = true;

  /** Drives that take no writes, of nodes that live. */
  public final Set<UUID> failed = new HashSet<>();

  /** What nodes tell of their drives when they join. */
  public final Map<UUID, DriveUse> uses = new HashMap<>();

  private final Map<String, MemoryMetadata> sessions = new HashMap<>();
  private final Set<String> silent = new HashSet<>();

  /** Nodes whose builds do not know several profiles. */
  private final Set<String> older = new HashSet<>();

  private final int drivesPerNode;
  private Runnable whileItLooks = () -> {};
  public final Admin admin =
      new Admin(
          metadata,
          null,
          new GroupDebts(metadata, clock, new SimpleMeterRegistry()),
          failed::contains,
          new Accounts(metadata, "0".repeat(32), "ROOT", SecretSeals.NONE),
          new Locator(metadata, (row, slot) -> ShardVerification.State.VERIFIED),
          new KeyRenewal(
              metadata,
              new KeyWrapping(
                  MasterKeys.NONE, KmsKeys.NONE, new SecureRandom(), new SimpleMeterRegistry())),
          profile -> {},
          () -> null);
  private final ClusterBalance balance =
      new ClusterBalance(metadata, OUT_AFTER, failed::contains, this::nanos);

  public BalancedCluster(int nodes, int drivesPerNode) throws Exception {
    this.drivesPerNode = drivesPerNode;
    for (int i = 0; i < nodes; i++) {
      join("node-" + i);
    }
    List<DriveRow> rows = new FailureDomains(metadata.registry()).drives(FailureDomain.DOMAIN_NODE);
    metadata.require(
        Command.newBuilder()
            .setPutDrives(
                PutDrives.newBuilder()
                    .setPgMap(
                        Placement.first(rows, PROFILE, GROUPS).toBuilder()
                            .setFailureDomain(FailureDomain.DOMAIN_NODE))));
  }

  private long nanos() {
    Runnable once = whileItLooks;
    whileItLooks = () -> {};
    once.run();
    return clock.millis() * 1_000_000;
  }

  /** Is done once, between the next look and what comes of it. */
  public void whileItLooks(Runnable action) {
    whileItLooks = action;
  }

  public static UUID drive(String node, int place) {
    return new UUID(node.hashCode(), place);
  }

  /** With all of its drives. */
  public void join(String node) {
    join(node, drivesPerNode);
  }

  /** Its process starts, with the first so many of its drives. */
  public void join(String node, int drives) {
    List<DriveRow> rows = new ArrayList<>();
    for (int place = 0; place < drives; place++) {
      UUID id = drive(node, place);
      DriveRow row = new DriveId(id, 1).toMessage().toBuilder().setCapacityBytes(1L << 40).build();
      DriveUse use = uses.get(id);
      rows.add(use == null ? row : use.in(row));
    }
    join(node, rows);
  }

  /** Its process starts, and finds the folder of its first drive empty. */
  public void joinEmpty(String node) {
    join(
        node,
        List.of(new DriveId(drive(node, 0), 2).toMessage().toBuilder().setVacant(true).build()));
  }

  private void join(String node, List<DriveRow> rows) {
    MemoryMetadata session = metadata.anotherClient();
    sessions.put(node, session);
    silent.remove(node);
    NodeRow row =
        NodeRow.newBuilder()
            .setName(node)
            .setHost(node)
            .setPort(9002)
            .setKnowsProfiles(!older.contains(node))
            .build();
    session.require(
        Command.newBuilder()
            .setRegisterNode(RegisterNode.newBuilder().setNode(row).addAllDrives(rows)));
  }

  /** Its process starts again, of a build that does not know several profiles. */
  public void joinAsOlder(String node) {
    older.add(node);
    join(node);
    older.remove(node);
  }

  public void fallSilent(String... nodes) {
    silent.addAll(List.of(nodes));
  }

  public void speakAgain(String node) {
    silent.remove(node);
  }

  /** Time goes by, with looks. */
  public void pass(Duration time) throws MetadataUnavailableException {
    for (long i = 0; i < time.toSeconds(); i += LOOK_SECONDS) {
      passUnseen(Duration.ofSeconds(LOOK_SECONDS));
      round();
    }
  }

  /** Time goes by in which the nodes that are up say so, but nobody looks. */
  public void passUnseen(Duration time) {
    clock.advanceMs(time.toMillis());
    sessions.forEach(
        (node, session) -> {
          if (!silent.contains(node)) {
            session.require(
                Command.newBuilder().setNodeHeartbeat(NodeHeartbeat.newBuilder().setName(node)));
          }
        });
  }

  private void round() throws MetadataUnavailableException {
    if (isItsTurn) {
      balance.balance();
    } else {
      balance.forget();
    }
  }

  public void look() throws MetadataUnavailableException {
    round();
  }

  /** What repair does: of all drives it is known what they have, and nothing is to be moved. */
  public void settle() throws MetadataUnavailableException {
    for (DriveRow row : registry().getDrivesList()) {
      if (row.getUnsettled()) {
        metadata.require(DriveSettlement.of(row));
      }
    }
  }

  public Registry registry() throws MetadataUnavailableException {
    return metadata.registry();
  }

  public PlacementMap map() {
    return metadata.placement();
  }

  public DriveRow row(UUID drive) throws MetadataUnavailableException {
    return registry().getDrivesList().stream()
        .filter(row -> DriveId.of(row).id().equals(drive))
        .findFirst()
        .orElseThrow();
  }

  /** Of the node's first drive. */
  public DriveStanding standing(String node) throws MetadataUnavailableException {
    return row(drive(node, 0)).getStanding();
  }

  public long slots(UUID drive) {
    return map().slotDrives().stream().flatMap(List::stream).filter(drive::equals).count();
  }

  /** Of all drives of the node. */
  public long slots(String node) {
    long slots = 0;
    for (int place = 0; place < drivesPerNode; place++) {
      slots += slots(drive(node, place));
    }
    return slots;
  }

  /** As an administrator gives it. */
  public void stand(String target, DriveStanding standing) throws Exception {
    new DriveChanges(metadata, failed::contains).stand(target, standing);
  }
}
