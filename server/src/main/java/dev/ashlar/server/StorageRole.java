package dev.ashlar.server;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.model.DriveId;
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
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The drives of one node of a cluster, and the port at which others reach them. */
final class StorageRole implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StorageRole.class);
  private static final Duration VACANT_PAUSE = Duration.ofSeconds(1);

  private final List<Path> folders;
  private final DriveResources resources;
  private final FolderLocks locks = new FolderLocks();
  private final LocalDrives drives;
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
   * rebuilt, and begins new lives of them. The others are not served: they may be mounted yet.
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
      member.register(drives.rows());
      drives.fill(metadata.drives());
    }
    locks.takeExisting(folders);
    for (Path folder : drives.vacant()) {
      LOG.error(
          "{} is empty. Its drive is not replaced, because others are away or being rebuilt, and"
              + " with it too much would be lost. If it is only not mounted, mount it and start"
              + " again; if it is to be replaced, start again when the others are well. If they"
              + " never will be, and it neither, make the file {} in it. Going on without",
          folder,
          LocalDrives.CONFIRMATION);
    }
    drives.leaveVacant();
    if (!drives.stores().isEmpty()) {
      member.register(drives.rows());
    }
  }

  /** Whether there is a drive to serve. */
  boolean hasDrives() {
    return !drives.stores().isEmpty();
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
    server = new ShardServer(config, port, List.copyOf(drives.stores()), resources.slabs());
  }

  /** The drive of this node with this id, or null. */
  @Nullable ShardStore store(UUID id) {
    return drives.store(id);
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
