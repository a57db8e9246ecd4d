package dev.ashlar.server;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.thread.BackgroundThread;
import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.storage.drive.DriveResources;
import dev.ashlar.storage.drive.DriveStore;
import dev.ashlar.storage.server.ShardServer;
import dev.ashlar.storage.server.ShardServerConfig;
import dev.ashlar.transport.FramePort;
import dev.ashlar.transport.FrameTimes;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The drives of one node of a cluster, and the port at which others reach them. */
final class StorageRole implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StorageRole.class);
  private static final Duration VACANT_PAUSE = Duration.ofSeconds(1);

  /**
   * From one look at what is vacant to the next, once the process serves: metadata goes through
   * what is owed for it.
   */
  static final Duration LOOK_AGAIN = Duration.ofSeconds(30);

  private final List<Path> folders;
  private final DriveResources resources;
  private final FolderLocks locks = new FolderLocks();
  private final LocalDrives drives;

  /** Those that were vacant when this began to serve. */
  private final Map<UUID, LateDrive> late = new ConcurrentHashMap<>();

  private @Nullable ShardServer server;

  /**
   * Opens the drives, but serves them to nobody yet: first metadata has to know their lives.
   *
   * @param known the drives that metadata has seen before
   */
  StorageRole(LocalDrives.Config config, Map<UUID, DriveId> known, DriveResources resources)
      throws IOException, InterruptedException {
    this.folders = config.folders();
    this.resources = resources;
    locks.takeExisting(config.folders());
    try {
      drives = new LocalDrives(config, known, resources);
      locks.takeExisting(config.folders());
    } catch (IOException | InterruptedException | RuntimeException e) {
      locks.close();
      throw e;
    }
  }

  /**
   * As metadata registers them; those that could not be opened are not among them, those that are
   * vacant are.
   */
  List<DriveRow> rows() throws IOException {
    return drives.rows();
  }

  /**
   * Has metadata take those drives for lost whose folders are empty, as far as what they had can be
   * rebuilt, and begins new lives of them. The others may be mounted yet, or come later.
   *
   * @param tries once a second: what stands against it may be over soon
   */
  void fillVacant(MetadataClient metadata, Membership member, int tries)
      throws IOException, MetadataUnavailableException, InterruptedException {
    if (drives.vacant().isEmpty()) {
      return;
    }
    drives.fill(metadata.drives());
    for (int i = 1; i < tries && !drives.vacant().isEmpty(); i++) {
      if (i == 1) {
        LOG.warn("{} are empty, and others are away or being rebuilt: waiting", drives.vacant());
      }
      Thread.sleep(VACANT_PAUSE);
      ask(member);
      drives.fill(metadata.drives());
    }
    locks.takeExisting(folders);
    for (Path folder : drives.vacant()) {
      LOG.error(
          "{} is empty. Its drive is not replaced yet, because others are away or being rebuilt,"
              + " and with it too much would be lost. If it is only not mounted, mount it; if it"
              + " is to be replaced, it is as soon as the others are well. If they never will be,"
              + " and it neither, make the file {} in it. This process goes on and looks again"
              + " every {} s",
          folder,
          LocalDrives.CONFIRMATION,
          LOOK_AGAIN.toSeconds());
    }
    drives.vacantDrives().forEach(known -> late.put(known.id(), new LateDrive(known)));
    if (!drives.stores().isEmpty()) {
      member.register(drives.rows());
    }
  }

  /** What becomes of a drive that has come late. */
  interface Newcomer {
    void come(DriveStore drive) throws IOException;
  }

  /**
   * Looks again and again at the folders that are vacant, until all are served or it is closed.
   *
   * @param newcomer is told of each drive that has come, when it is served
   * @param pause from one look to the next
   */
  BackgroundThread awaitVacant(
      MetadataClient metadata, Membership member, Newcomer newcomer, Duration pause) {
    return BackgroundThread.start(
        "vacant-drives",
        () -> {
          while (late.values().stream().anyMatch(drive -> !drive.isThere())) {
            Thread.sleep(pause);
            try {
              if (isWaiting()) {
                askAgain(metadata, member);
              }
              serveLate(member, newcomer);
            } catch (MetadataUnavailableException e) {
              LOG.debug("{} stay empty: {}", drives.vacant(), e.getMessage());
            } catch (IOException | RuntimeException e) {
              LOG.error("drives whose folders were empty do not come", e);
            }
          }
        });
  }

  /** Metadata decides anew with each registration. */
  private void ask(Membership member) throws IOException, MetadataUnavailableException {
    List<DriveRow> rows = drives.rows();
    if (!rows.isEmpty()) { // else it would be a node without drives
      member.register(rows);
    }
  }

  private void askAgain(MetadataClient metadata, Membership member)
      throws IOException, MetadataUnavailableException, InterruptedException {
    ask(member);
    Map<UUID, DriveId> known = new HashMap<>();
    for (DriveRow row : metadata.registry().getDrivesList()) {
      known.put(DriveId.idOf(row), DriveId.of(row));
    }
    for (Map.Entry<UUID, LateDrive> drive : late.entrySet()) {
      DriveId now = known.get(drive.getKey());
      if (now != null) {
        drive.getValue().isKnownAs(now);
      }
    }
    drives.fill(known);
  }

  /** Serves what has been opened since; before anybody is answered, metadata knows its life. */
  private void serveLate(Membership member, Newcomer newcomer)
      throws IOException, MetadataUnavailableException {
    List<DriveStore> come = new ArrayList<>(drives.stores());
    come.removeIf(drive -> !isAwaited(drive.drive().id()));
    if (come.isEmpty()) {
      return;
    }
    for (DriveStore drive : come) {
      locks.retake(drives.folderOf(drive));
    }
    member.register(drives.rows());
    for (DriveStore drive : come) {
      Objects.requireNonNull(late.get(drive.drive().id())).come(drive);
      LOG.info("{} is served now as drive {}", drives.folderOf(drive), drive.drive());
      newcomer.come(drive);
    }
  }

  private boolean isAwaited(UUID id) {
    LateDrive drive = late.get(id);
    return drive != null && !drive.isThere();
  }

  /** Whether there is a drive to serve. */
  boolean hasDrives() {
    return !drives.stores().isEmpty();
  }

  /** Whether drives may come yet. */
  boolean isWaiting() {
    return !drives.vacant().isEmpty();
  }

  /**
   * @param port stays the caller's, who closes it first
   */
  void serve(FramePort port, UUID cluster, ClusterSecret secret) {
    ShardServerConfig.Limits standard = ShardServerConfig.Limits.DEFAULT;
    ShardServerConfig.Limits limits =
        new ShardServerConfig.Limits(
            standard.connectionsMax(),
            standard.greetingsMax(),
            standard.operationsMax(),
            standard.writeBytesMax(),
            standard.readBytesMax(),
            DirectMemory.servedBytes());
    ShardServerConfig config =
        new ShardServerConfig(
            port.address(),
            cluster,
            secret,
            null,
            FrameTimes.DEFAULT,
            ShardServerConfig.DEFAULT_DRAIN,
            limits);
    List<ShardStore> served = new ArrayList<>(drives.stores());
    served.addAll(late.values());
    server = new ShardServer(config, port, served, resources.slabs());
  }

  /** The drive of this node with this id, or null. */
  @Nullable ShardStore store(UUID id) {
    return isAwaited(id) ? null : drives.store(id);
  }

  /** How full the drive is, or null when it is not open. */
  @Nullable DriveUse use(UUID id) {
    return drives.use(id);
  }

  /** All that could be opened. */
  Collection<DriveStore> stores() {
    return drives.stores();
  }

  Health.Drives health() {
    return drives.health(folders);
  }

  /** Gateways are told, then the drives end. */
  @Override
  public void close() throws IOException {
    ShardServer open = server;
    if (open != null) {
      open.close();
    }
    drives.close();
    locks.close();
  }
}
