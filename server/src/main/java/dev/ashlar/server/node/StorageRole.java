package dev.ashlar.server.node;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.process.BackgroundThread;
import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.server.cluster.Membership;
import dev.ashlar.server.config.Sizes;
import dev.ashlar.storage.drive.DriveResources;
import dev.ashlar.storage.server.ShardServer;
import dev.ashlar.storage.server.ShardServerConfig;
import dev.ashlar.transport.session.FramePort;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The drives of one node of a cluster, and the port at which others reach them. */
final class StorageRole implements AutoCloseable {
  /**
   * From one look at what is vacant to the next, once the process serves: metadata goes through
   * what is owed for it.
   */
  private static final Duration LOOK_AGAIN = Duration.ofSeconds(30);

  private final List<Path> folders;
  private final DriveResources resources;
  private final FolderLocks locks = new FolderLocks();
  private final LocalDrives drives;

  private @Nullable AwaitedDrives awaited;
  private @Nullable ShardServer server;

  /**
   * Opens the drives, but serves them to nobody yet: first metadata has to know their lives.
   *
   * @param known the drives that metadata has seen before
   */
  StorageRole(LocalDrives.Config config, Map<UUID, DriveRow> known, DriveResources resources)
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

  LocalDrives drives() {
    return drives;
  }

  /**
   * Has metadata take those drives for lost whose folders are empty, as far as what they had can be
   * rebuilt. The others are waited for.
   *
   * @param tries once a second: what stands against it may be over soon
   */
  void fillVacant(MetadataClient metadata, Membership member, int tries)
      throws IOException, MetadataUnavailableException, InterruptedException {
    AwaitedDrives.Registration registration =
        rows -> {
          if (!rows.isEmpty()) { // else it would be a node without drives
            member.register(rows);
          }
        };
    AwaitedDrives.Newcomer found = drive -> locks.retake(drives.folderOf(drive));
    AwaitedDrives filled = new AwaitedDrives(drives, metadata, registration, found, LOOK_AGAIN);
    filled.fill(tries);
    locks.takeExisting(folders);
    awaited = filled;
  }

  /**
   * Looks again and again for drives that are not there, until all are served or it is closed.
   *
   * @param newcomer is told of each drive that has come, when it is served
   * @param first the time to the first look
   */
  BackgroundThread awaitVacant(AwaitedDrives.Newcomer newcomer, Duration first) {
    return Objects.requireNonNull(awaited).start(newcomer, first);
  }

  /** Whether there is a drive to serve, or may come yet. */
  boolean isUseful() {
    return !drives.stores().isEmpty() || !drives.awaitedFolders().isEmpty();
  }

  /**
   * @param port stays the caller's, who closes it first
   * @param traced makes of each drive one whose work for requests is traced
   */
  void serve(
      FramePort port,
      UUID cluster,
      ClusterSecret secret,
      Sizes sizes,
      UnaryOperator<ShardStore> traced) {
    ShardServerConfig.Limits standard = ShardServerConfig.Limits.DEFAULT;
    ShardServerConfig.Limits limits =
        new ShardServerConfig.Limits(
            standard.connectionsMax(),
            standard.handshakesMax(),
            standard.operationsMax(),
            standard.writeBytesMax(),
            standard.readBytesMax(),
            ProcessMemory.servedBytes(sizes));
    ShardServerConfig config =
        new ShardServerConfig(cluster, secret, ShardServerConfig.DEFAULT_DRAIN, limits);
    List<ShardStore> served = new ArrayList<>(drives.stores());
    served.addAll(Objects.requireNonNull(awaited).late());
    served.replaceAll(traced);
    server = new ShardServer(config, port, served, resources.slabs());
  }

  /** The drive of this node with this id, or null. */
  @Nullable ShardStore store(UUID id) {
    AwaitedDrives filled = awaited;
    return filled == null ? drives.store(id) : filled.store(id);
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
