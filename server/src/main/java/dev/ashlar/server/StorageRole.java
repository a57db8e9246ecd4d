package dev.ashlar.server;

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
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The drives of one node of a cluster, and the port at which others reach them. */
final class StorageRole implements AutoCloseable {
  private final List<Path> folders;
  private final DriveResources resources;
  private final FolderLocks locks = new FolderLocks();
  private final LocalDrives drives;
  private final List<DriveRow> rows;
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
      rows = drives.rows(config);
    } catch (IOException | InterruptedException | RuntimeException e) {
      locks.close();
      throw e;
    }
  }

  /** As metadata registers them; those that could not be opened are not among them. */
  List<DriveRow> rows() {
    return rows;
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
