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
import java.util.concurrent.ConcurrentHashMap;
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

  /** In a data folder: whoever made it knows that the drive before is gone for good. */
  static final String CONFIRMATION = "replacement-confirmed";

  private final Config config;
  private final DriveResources resources;
  private final Map<UUID, DriveStore> open = new ConcurrentHashMap<>();

  /** Known drives whose folders are empty, as they were known. */
  private final Map<UUID, DriveId> vacant = new ConcurrentHashMap<>();

  /**
   * Which drives are to be opened.
   *
   * @param ids of the drive in each folder
   * @param capacityBytes that are used of each at most; 0: all of its file system
   * @param hangAfter how long one read or write may run before the drive counts as failed
   * @param openMin how many must open
   * @param asksFirst whether the empty folder of a known drive stays vacant until metadata says
   *     that the drive may be lost; else it is formatted at once
   */
  record Config(
      List<Path> folders,
      List<UUID> ids,
      UUID cluster,
      long capacityBytes,
      Duration hangAfter,
      int openMin,
      boolean asksFirst) {
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
          openMin,
          false);
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
          1,
          true);
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
    this.config = config;
    this.resources = resources;
    Set<Path> notMounted = notMounted(config.folders());
    Map<UUID, Long> lastLives = new LinkedHashMap<>();
    for (int place = 0; place < config.folders().size(); place++) {
      UUID id = config.ids().get(place);
      Path folder = config.folders().get(place);
      DriveId before = known.get(id);
      boolean isLost = before != null && isEmpty(folder);
      if (isLost && notMounted.contains(folder)) {
        LOG.error("{} is empty and no mount point: drive not mounted? Going on without", folder);
      } else if (isLost && config.asksFirst() && !isConfirmed(folder)) {
        vacant.put(id, before);
      } else {
        lastLives.put(id, before == null ? 0 : before.incarnation());
        if (isLost) {
          sayReplaced(folder);
        }
      }
    }
    open(lastLives);
  }

  private static void sayReplaced(Path folder) {
    LOG.warn("{} is empty: formatting a replacement of its drive", folder);
  }

  private static boolean isEmpty(Path folder) throws IOException {
    return !holdsFiles(folder.resolve(FOLDER));
  }

  private static boolean isConfirmed(Path folder) {
    return Files.exists(folder.resolve(CONFIRMATION));
  }

  /**
   * @param lastLives of those that are to be opened, as far as they are known
   */
  private void open(Map<UUID, Long> lastLives) throws IOException, InterruptedException {
    Map<UUID, Future<DriveStore>> opening = new LinkedHashMap<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(config.folders().size())) {
      for (Map.Entry<UUID, Long> entry : lastLives.entrySet()) {
        Path folder = folder(entry.getKey());
        DriveConfig drive =
            new DriveConfig(
                folder.resolve(FOLDER),
                config.cluster(),
                entry.getKey(),
                entry.getValue(),
                IoMode.AUTO,
                config.limits());
        opening.put(
            entry.getKey(),
            threads.submit(
                () -> {
                  DriveStore store = DriveStore.open(drive, resources);
                  Files.deleteIfExists(folder.resolve(CONFIRMATION));
                  return store;
                }));
      }
    }
    collect(opening);
  }

  private Path folder(UUID id) {
    return config.folders().get(config.ids().indexOf(id));
  }

  private void collect(Map<UUID, Future<DriveStore>> opening)
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
    if (failure != null && open.size() + vacant.size() < config.openMin()) {
      close();
      throw failure;
    }
  }

  /** Folders of known drives that are empty, as long as nobody has said that they may be lost. */
  List<Path> vacant() {
    return vacantDrives().stream().map(drive -> folder(drive.id())).toList();
  }

  /** The drives that belong there, as they were known. */
  List<DriveId> vacantDrives() {
    List<DriveId> drives = new ArrayList<>();
    for (UUID id : config.ids()) {
      DriveId before = vacant.get(id);
      if (before != null) {
        drives.add(before);
      }
    }
    return drives;
  }

  /**
   * Opens those vacant ones of which something is there now, and formats those that metadata knows
   * in another life: it has taken the old one for lost; and those of which somebody has confirmed
   * that they are.
   */
  void fill(Map<UUID, DriveId> known) throws IOException, InterruptedException {
    Map<UUID, Long> lastLives = new LinkedHashMap<>();
    for (Map.Entry<UUID, DriveId> entry : vacant.entrySet()) {
      UUID id = entry.getKey();
      DriveId before = known.getOrDefault(id, entry.getValue());
      boolean isEmpty = isEmpty(folder(id));
      boolean isTaken =
          before.incarnation() > entry.getValue().incarnation() || isConfirmed(folder(id));
      if (isTaken || !isEmpty) {
        lastLives.put(id, before.incarnation());
      }
      if (isTaken && isEmpty) {
        sayReplaced(folder(id));
      }
    }
    if (!lastLives.isEmpty()) {
      vacant.keySet().removeAll(lastLives.keySet());
      open(lastLives);
    }
  }

  /** The folder of a drive of this process. */
  Path folderOf(DriveStore drive) {
    return folder(drive.drive().id());
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
    return config.ids();
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

  /** How full the drive is, or null when it is not there. */
  @Nullable DriveUse use(UUID id) {
    DriveStore drive = open.get(id);
    return drive == null ? null : DriveUse.of(drive);
  }

  Collection<DriveStore> stores() {
    return open.values();
  }

  int openCount() {
    return open.size();
  }

  /**
   * The drives as metadata registers them: those that are open, with capacities as their weights,
   * and those that are vacant in the life that they would begin. Once metadata has taken one for
   * lost, nothing on it counts: none is told of that has been mounted since, or by now is known not
   * to be.
   */
  List<DriveRow> rows() throws IOException {
    List<DriveRow> rows = new ArrayList<>();
    for (UUID id : config.ids()) {
      DriveStore drive = open.get(id);
      if (drive != null) {
        rows.add(drive.drive().toMessage().toBuilder().setCapacityBytes(capacity(id)).build());
      }
    }
    Set<Path> notMounted = notMounted(config.folders());
    for (DriveId before : vacantDrives()) {
      Path folder = folder(before.id());
      if (isEmpty(folder) && !notMounted.contains(folder)) {
        DriveId next = new DriveId(before.id(), before.incarnation() + 1);
        rows.add(next.toMessage().toBuilder().setVacant(true).build());
      }
    }
    return rows;
  }

  private long capacity(UUID id) throws IOException {
    long fileSystem = Files.getFileStore(folder(id)).getTotalSpace();
    return config.capacityBytes() == 0 ? fileSystem : Math.min(fileSystem, config.capacityBytes());
  }

  /**
   * @param folders of all drives, by place
   */
  Health.Drives health(List<Path> folders) {
    List<Path> missing = new ArrayList<>();
    List<Path> full = new ArrayList<>();
    List<Path> readOnly = new ArrayList<>();
    for (int place = 0; place < config.ids().size(); place++) {
      DriveStore drive = open.get(config.ids().get(place));
      if (drive == null) {
        missing.add(folders.get(place));
      } else if (drive.writeRefusal() == ShardFault.FULL) {
        full.add(folders.get(place));
      } else if (!drive.isWritable()) {
        readOnly.add(folders.get(place));
      }
    }
    return Health.Drives.of(config.ids().size(), missing, full, readOnly);
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
