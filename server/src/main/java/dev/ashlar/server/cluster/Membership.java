package dev.ashlar.server.cluster;

import dev.ashlar.metadata.placement.Placement;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.FailureDomain;
import dev.ashlar.protocol.message.NodeHeartbeat;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.RegisterNode;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.NodeLiveness;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.process.BackgroundThread;
import dev.ashlar.server.config.ClusterOptions;
import dev.ashlar.server.config.ServerRole;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * That this process is a node of the cluster: it registers itself and its drives, says from then on
 * that it is alive, and makes the first placement map when all expected drives are there.
 */
public final class Membership implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Membership.class);
  private static final Duration PAUSE = Duration.ofSeconds(1);

  /** How full drives are is told at most so often: it is a command each time. */
  private static final Duration USE_INTERVAL = Duration.ofSeconds(10);

  /** Another process counts as this node until it has been silent for long enough. */
  private static final int TAKE_OVER_TRIES = (int) (2 * NodeLiveness.DOWN_MS / PAUSE.toMillis());

  private final MetadataClient metadata;
  private final ClusterOptions cluster;
  private volatile List<DriveRow> drives;
  private final Profile profile;
  private final Runnable onSessionEnd;
  private volatile LongSupplier oldestReadMs = () -> 0;
  private volatile Function<UUID, @Nullable DriveUse> use = drive -> null;

  /** What is registered last is what counts: it may not be older than what was before. */
  private final ReentrantLock registering = new ReentrantLock();

  private List<DriveRow> told = List.of();
  private long toldNanos;
  private volatile boolean hasMap;
  private boolean isDisplaced;
  private @Nullable BackgroundThread heartbeat;

  /**
   * @param drives of this process: those that are open, and those that it would begin anew
   * @param profile of the first placement map, if this process has drives
   * @param onSessionEnd when nothing that this process writes can be committed any more
   */
  public Membership(
      MetadataClient metadata,
      ClusterOptions cluster,
      List<DriveRow> drives,
      Profile profile,
      Runnable onSessionEnd) {
    this.metadata = metadata;
    this.cluster = cluster;
    this.drives = drives;
    this.profile = profile;
    this.onSessionEnd = onSessionEnd;
  }

  /**
   * Registers, and goes on as a member until it is closed.
   *
   * @throws IOException when the cluster does not take this node; the message says why
   */
  public void join() throws IOException, MetadataUnavailableException, InterruptedException {
    if (!drives.isEmpty()) {
      Registry registry = metadata.registry();
      checkProfile(registry);
      if (registry.getEpoch() > 0) {
        for (PlacedProfile placed : metadata.placement(registry.getEpoch()).present()) {
          checkLabel(registry, placed.failureDomain());
        }
      }
    }
    ResultCode code = register();
    for (int tries = 1; code == ResultCode.CONDITIONAL_CONFLICT; tries++) {
      if (tries == TAKE_OVER_TRIES) {
        throw new IOException(
            "another process at another address is node %s of this cluster: give each process its"
                    .formatted(cluster.node())
                + " own --node");
      }
      LOG.info("Waiting for the previous instance of node {} to expire.", cluster.node());
      Thread.sleep(PAUSE);
      code = register();
    }
    check(code);
    heartbeat = BackgroundThread.start("heartbeat", this::stayAlive);
  }

  private void check(ResultCode code) throws IOException {
    if (code != ResultCode.OK) {
      throw new IOException(
          "the cluster refuses these drives for node %s: they have been replaced, or belong to"
                  .formatted(cluster.node())
              + " another node ("
              + code
              + ")");
    }
  }

  /**
   * Registers again, with these drives from now on.
   *
   * @throws IOException when the cluster does not take them; the message says why
   */
  public void register(List<DriveRow> present) throws IOException, MetadataUnavailableException {
    registering.lock();
    try {
      drives = List.copyOf(present);
      check(register());
    } finally {
      registering.unlock();
    }
  }

  /** Tells from now on since when the oldest read has been running; 0 when none is. */
  public void reportReads(LongSupplier oldest) {
    oldestReadMs = oldest;
  }

  /**
   * Tells from now on how full the drives are.
   *
   * @param known null where a drive does not tell
   */
  public void reportUse(Function<UUID, @Nullable DriveUse> known) {
    use = known;
  }

  private void checkProfile(Registry registry) throws IOException {
    if (registry.getEpoch() == 0 && cluster.expectedDrives() == 0) {
      throw new IOException(
          "this cluster is new: give the number of its drives with --expect-drives");
    }
    Profile present = registry.getEpoch() == 0 ? profile : Profile.of(registry.getProfile());
    if (!present.equals(profile)) {
      throw new IOException(
          "this cluster was made with --profile %s --stripe-unit %s"
              .formatted(present, present.stripeUnit()));
    }
  }

  /**
   * Nodes that do not say where they are would be one rack together, or one zone. One that is in
   * the cluster like that already has data, and goes on.
   */
  private void checkLabel(Registry registry, FailureDomain level) throws IOException {
    String missing =
        switch (level) {
          case DOMAIN_RACK -> cluster.rack().isBlank() ? "--rack" : "";
          case DOMAIN_ZONE -> cluster.zone().isBlank() ? "--zone" : "";
          case DOMAIN_DRIVE, DOMAIN_NODE, UNRECOGNIZED -> "";
        };
    if (missing.isEmpty()) {
      return;
    }
    String said =
        "this cluster spreads what it stores over "
            + (level == FailureDomain.DOMAIN_RACK ? "racks" : "zones")
            + ", and a node has to say in which one it is: "
            + missing;
    if (registry.getDrivesList().stream()
        .noneMatch(drive -> drive.getNode().equals(cluster.node()))) {
      throw new IOException(said);
    }
    LOG.warn("{}. Until then, all nodes without this label count as one.", said);
  }

  private ResultCode register() throws MetadataUnavailableException {
    registering.lock();
    try {
      return submitRegistration(drives);
    } finally {
      registering.unlock();
    }
  }

  private ResultCode submitRegistration(List<DriveRow> present)
      throws MetadataUnavailableException {
    NodeRow.Builder node =
        NodeRow.newBuilder()
            .setName(cluster.node())
            .setHost(cluster.host())
            .setPort(drives.isEmpty() ? 0 : cluster.clusterListen().port())
            .setRack(cluster.rack())
            .setZone(cluster.zone())
            .setGateway(cluster.has(ServerRole.GATEWAY))
            .setKnowsProfiles(true)
            .setKnowsEncryption(true)
            .setOldestReadMs(oldestReadMs.getAsLong());
    RegisterNode.Builder registration = RegisterNode.newBuilder().setNode(node);
    present.forEach(row -> registration.addDrives(withUse(row)));
    return submit(Command.newBuilder().setRegisterNode(registration));
  }

  private DriveRow withUse(DriveRow row) {
    DriveUse own = row.getVacant() ? null : use.apply(DriveId.idOf(row));
    return own == null ? row : own.in(row);
  }

  /** Metadata has it with the drives, so they are registered as they are. */
  private void tellUse() throws MetadataUnavailableException {
    registering.lock();
    try {
      List<DriveRow> open = drives.stream().filter(row -> !row.getVacant()).toList();
      List<DriveRow> now = open.stream().map(this::withUse).toList();
      boolean isLong = told.isEmpty() || System.nanoTime() - toldNanos >= USE_INTERVAL.toNanos();
      if (isLong && !now.equals(open) && !now.equals(told)) {
        ResultCode code = submitRegistration(open);
        if (code == ResultCode.OK) {
          told = now;
          toldNanos = System.nanoTime();
        } else {
          LOG.debug("Drive usage was not reported: {}", code);
        }
      }
    } finally {
      registering.unlock();
    }
  }

  private ResultCode submit(Command.Builder command) throws MetadataUnavailableException {
    return metadata.submit(command).getCode();
  }

  private void stayAlive() throws InterruptedException {
    while (true) {
      try {
        if (!hasMap && !drives.isEmpty()) {
          makeFirstMap();
        }
        keep();
        if (!isDisplaced) {
          tellUse();
        }
      } catch (MetadataUnavailableException e) {
        LOG.debug("Heartbeat failed: {}", e.getMessage());
      } catch (RuntimeException e) {
        LOG.warn("Heartbeat failed.", e);
      }
      Thread.sleep(hasMap || drives.isEmpty() ? NodeLiveness.HEARTBEAT_MS : PAUSE.toMillis());
    }
  }

  private void keep() throws MetadataUnavailableException {
    NodeHeartbeat.Builder alive =
        NodeHeartbeat.newBuilder()
            .setName(cluster.node())
            .setOldestReadMs(oldestReadMs.getAsLong());
    ResultCode code = submit(Command.newBuilder().setNodeHeartbeat(alive));
    if (code == ResultCode.STALE_REQUEST && hasSessionEnded()) {
      LOG.error(
          "The session of node {} has ended: another process has taken its name, or it was silent"
              + " for too long. This process can no longer write and exits.",
          cluster.node());
      onSessionEnd.run();
      return;
    }
    boolean isNotThis = code == ResultCode.CONDITIONAL_CONFLICT;
    boolean isOther = isNotThis && !isForgotten();
    if (isNotThis && !isOther) {
      register();
    } else if (isOther && !isDisplaced) {
      LOG.error(
          "Another process has registered as node {} of this cluster. Stop one of them.",
          cluster.node());
    }
    isDisplaced = isOther;
  }

  private boolean hasSessionEnded() throws MetadataUnavailableException {
    return !metadata.registry().getSessionsList().contains(metadata.session());
  }

  /** After a long pause of this process, the row of a node without drives is gone. */
  private boolean isForgotten() throws MetadataUnavailableException {
    return metadata.registry().getNodesList().stream()
        .noneMatch(node -> node.getName().equals(cluster.node()));
  }

  /** Several nodes may try; the first makes it. */
  private void makeFirstMap() throws MetadataUnavailableException {
    Registry registry = metadata.registry();
    if (registry.getEpoch() == 0 && registry.getDrivesCount() >= cluster.expectedDrives()) {
      PutDrives.Builder map = PutDrives.newBuilder().setPgMap(Placement.first(registry, profile));
      if (submit(Command.newBuilder().setPutDrives(map)) == ResultCode.OK) {
        LOG.info(
            "Created the first placement map: {} drives, failure domain {}.",
            registry.getDrivesCount(),
            map.getPgMap().getFailureDomain());
      }
    }
    hasMap = registry.getEpoch() > 0;
  }

  @Override
  public void close() {
    BackgroundThread.closeIfStarted(heartbeat);
  }
}
