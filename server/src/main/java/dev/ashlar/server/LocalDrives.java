package dev.ashlar.server;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.storage.drive.DriveConfig;
import dev.ashlar.storage.drive.DriveResources;
import dev.ashlar.storage.drive.DriveStore;
import dev.ashlar.storage.io.IoMode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The drives of this process. Which drive has to be in which folder follows from the cluster and
 * the folder's place in the list, so swapped folders are noticed and a moved tree is not.
 */
final class LocalDrives implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LocalDrives.class);

  /** Where in a data folder the drive's own files are. */
  private static final String FOLDER = "drive";

  private final List<UUID> ids;
  private final Map<UUID, DriveStore> open = new LinkedHashMap<>();

  /**
   * Which drives are to be opened.
   *
   * @param ids of the drive in each folder
   * @param capacityBytes that are used of each at most; 0: all of its file system
   * @param hangAfter how long one read or write may run before the drive counts as failed
   * @param openMin how many must open
   */
  record Config(
      List<Path> folders,
      List<UUID> ids,
      UUID cluster,
      long capacityBytes,
      Duration hangAfter,
      int openMin) {
    Config {
      folders = List.copyOf(folders);
      ids = List.copyOf(ids);
    }

    /** Of the only process that has drives: it can serve when it has k of them. */
    static Config embedded(ServerOptions options, UUID cluster) {
      List<UUID> ids = new ArrayList<>();
      for (int place = 0; place < options.dataFolders().size(); place++) {
        ids.add(driveId(cluster, "", place));
      }
      int openMin = options.profile().dataShards();
      return new Config(
          options.dataFolders(),
          ids,
          cluster,
          options.driveCapacityBytes(),
          options.hangAfter(),
          openMin);
    }

    /** Of one node among others: it is of use with any drive. */
    static Config ofNode(ServerOptions options, ClusterOptions cluster) {
      List<UUID> ids = new ArrayList<>();
      for (int place = 0; place < options.dataFolders().size(); place++) {
        ids.add(driveId(cluster.id(), cluster.node(), place));
      }
      return new Config(
          options.dataFolders(),
          ids,
          cluster.id(),
          options.driveCapacityBytes(),
          options.hangAfter(),
          1);
    }

    /** The drive that belongs to this place of the node's list. */
    private static UUID driveId(UUID cluster, String node, int place) {
      byte[] nodeName = node.getBytes(StandardCharsets.UTF_8);
      ByteBuffer name = ByteBuffer.allocate(20 + nodeName.length);
      name.putLong(cluster.getMostSignificantBits()).putLong(cluster.getLeastSignificantBits());
      return UUID.nameUUIDFromBytes(name.putInt(place).put(nodeName).array());
    }

    private DriveConfig.Limits limits() {
      DriveConfig.Limits standard =
          DriveConfig.Limits.DEFAULT.withTimeouts(
              DriveConfig.Limits.DEFAULT.stallTimeout(), hangAfter);
      return capacityBytes == 0 ? standard : standard.withCapacity(capacityBytes);
    }
  }

  /**
   * Opens all that can be opened, in parallel.
   *
   * @param known the drives that metadata has seen before, in their last lives: an empty folder of
   *     theirs is a loss
   */
  LocalDrives(Config config, Map<UUID, DriveId> known, DriveResources resources)
      throws IOException, InterruptedException {
    List<Path> folders = config.folders();
    ids = config.ids();
    Set<Path> notMounted = notMounted(folders);
    DriveConfig.Limits limits = config.limits();
    Map<UUID, Future<DriveStore>> opening = new LinkedHashMap<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(folders.size())) {
      for (int place = 0; place < folders.size(); place++) {
        UUID id = ids.get(place);
        Path folder = folders.get(place);
        Path own = folder.resolve(FOLDER);
        if (known.containsKey(id) && notMounted.contains(folder)) {
          LOG.error("{} is empty and no mount point: drive not mounted? Going on without", folder);
        } else {
          if (known.containsKey(id) && !holdsFiles(own)) {
            LOG.warn("{} is empty: formatting a replacement of its drive", folder);
          }
          long last = known.containsKey(id) ? known.get(id).incarnation() : 0;
          DriveConfig drive = new DriveConfig(own, config.cluster(), id, last, IoMode.AUTO, limits);
          opening.put(id, threads.submit(() -> DriveStore.open(drive, resources)));
        }
      }
    }
    collect(opening, config.openMin());
  }

  private void collect(Map<UUID, Future<DriveStore>> opening, int needed)
      throws IOException, InterruptedException {
    IOException failure = null;
    for (Map.Entry<UUID, Future<DriveStore>> entry : opening.entrySet()) {
      try {
        open.put(entry.getKey(), entry.getValue().get());
      } catch (ExecutionException e) {
        Throwable cause = e.getCause() == null ? e : e.getCause();
        LOG.error("drive cannot be opened: {}", cause.getMessage());
        failure = new IOException(cause.getMessage(), cause);
      }
    }
    if (failure != null && open.size() < needed) {
      close();
      throw failure;
    }
  }

  /** Whether any of these data folders has been used before. */
  static boolean holdData(List<Path> dataFolders) throws IOException {
    for (Path folder : dataFolders) {
      if (holdsFiles(folder.resolve(FOLDER))) {
        return true;
      }
    }
    return false;
  }

  /**
   * Those of the folders of a running installation that are not there now: they hold nothing and
   * are no mount points, while the folders do lie on several devices.
   */
  static Set<Path> notMounted(List<Path> dataFolders) throws IOException {
    Map<Path, FileStore> devices = MetadataFolders.devices(dataFolders);
    Set<Path> missing = new HashSet<>();
    if (new HashSet<>(devices.values()).size() > 1) {
      for (Path folder : dataFolders) {
        if (!holdsFiles(folder.resolve(FOLDER)) && !isMountPoint(folder)) {
          missing.add(folder);
        }
      }
    }
    return missing;
  }

  private static boolean holdsFiles(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return false;
    }
    try (var files = Files.list(folder)) {
      return files.findAny().isPresent();
    }
  }

  private static boolean isMountPoint(Path folder) throws IOException {
    Path parent = folder.getParent();
    return Files.isDirectory(folder)
        && parent != null
        && !Files.getFileStore(folder).equals(Files.getFileStore(parent));
  }

  /** All drives by place, whether they could be opened or not. */
  List<UUID> ids() {
    return ids;
  }

  /** The drive, or null when it is not there. */
  @Nullable ShardStore store(UUID id) {
    return open.get(id);
  }

  /** Whether the drive takes no writes because one has failed, or hangs. */
  boolean hasFailed(UUID id) {
    DriveStore drive = open.get(id);
    return drive != null && drive.writeRefusal() == ShardFault.READ_ONLY;
  }

  Collection<DriveStore> stores() {
    return open.values();
  }

  int openCount() {
    return open.size();
  }

  /** The open drives as metadata registers them, with capacities as their weights. */
  List<DriveRow> rows(Config config) throws IOException {
    List<DriveRow> rows = new ArrayList<>();
    for (int place = 0; place < ids.size(); place++) {
      DriveStore drive = open.get(ids.get(place));
      if (drive != null) {
        long fileSystem = Files.getFileStore(config.folders().get(place)).getTotalSpace();
        long capacity =
            config.capacityBytes() == 0 ? fileSystem : Math.min(fileSystem, config.capacityBytes());
        rows.add(
            DriveRow.newBuilder()
                .setDriveHigh(ids.get(place).getMostSignificantBits())
                .setDriveLow(ids.get(place).getLeastSignificantBits())
                .setIncarnation(drive.drive().incarnation())
                .setCapacityBytes(capacity)
                .build());
      }
    }
    return rows;
  }

  /**
   * @param folders of all drives, by place
   */
  Health.Drives health(List<Path> folders) {
    List<Path> missing = new ArrayList<>();
    List<Path> full = new ArrayList<>();
    List<Path> readOnly = new ArrayList<>();
    for (int place = 0; place < ids.size(); place++) {
      DriveStore drive = open.get(ids.get(place));
      if (drive == null) {
        missing.add(folders.get(place));
      } else if (drive.writeRefusal() == ShardFault.FULL) {
        full.add(folders.get(place));
      } else if (!drive.isWritable()) {
        readOnly.add(folders.get(place));
      }
    }
    return Health.Drives.of(ids.size(), missing, full, readOnly);
  }

  @Override
  public void close() {
    for (DriveStore store : open.values()) {
      try {
        store.close();
      } catch (Exception e) {
        LOG.error("drive {} did not close cleanly", store.drive(), e);
      }
    }
  }
}
