package dev.ashlar.server.node;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.server.admin.Health;
import dev.ashlar.server.cluster.DriveUse;
import dev.ashlar.server.config.ClusterOptions;
import dev.ashlar.server.config.ServerOptions;
import dev.ashlar.storage.drive.DriveRecall;
import dev.ashlar.storage.drive.DriveResources;
import dev.ashlar.storage.drive.DriveStore;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.io.IoMode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The drives of this process. Which drive has to be in which folder follows from the cluster and
 * the folder's place in the list, so swapped folders are noticed and a moved tree is not.
 */
final class LocalDrives implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LocalDrives.class);

  private final Config config;
  private final DriveResources resources;
  private final Map<UUID, DriveStore> open = new ConcurrentHashMap<>();

  /** On which open drives were when they were opened. */
  private final Map<UUID, String> fileSystems = new ConcurrentHashMap<>();

  /** Of open drives, as their file systems were last seen. */
  private final Map<UUID, Long> capacities = new ConcurrentHashMap<>();

  /** Known drives that are not in their folders, as they were known when this was found. */
  private final Map<UUID, DriveRow> awaited = new ConcurrentHashMap<>();

  /**
   * Which drives are to be opened.
   *
   * @param ids of the drive in each folder
   * @param openMin how many must open
   */
  record Config(
      List<Path> folders, List<UUID> ids, UUID cluster, DriveConfig.Limits limits, int openMin) {
    Config {
      folders = List.copyOf(folders);
      ids = List.copyOf(ids);
    }

    /**
     * Of the only process that has drives: it can serve when it has k of them, for the profile that
     * needs least.
     */
    static Config embedded(ServerOptions options, List<Profile> profiles, UUID cluster) {
      int openMin = profiles.stream().mapToInt(Profile::dataShards).min().orElse(1);
      return of(options, cluster, "", openMin);
    }

    /** Of one node among others: it is of use with any drive. */
    static Config ofNode(ServerOptions options, ClusterOptions cluster) {
      return of(options, cluster.id(), cluster.node(), 1);
    }

    private static Config of(ServerOptions options, UUID cluster, String node, int openMin) {
      List<Path> folders = options.dataFolders();
      return new Config(
          folders,
          IntStream.range(0, folders.size()).mapToObj(n -> driveId(cluster, node, n)).toList(),
          cluster,
          options.data().driveLimits(),
          openMin);
    }

    /** The drive that belongs to this place of the node's list. */
    private static UUID driveId(UUID cluster, String node, int place) {
      byte[] nodeName = node.getBytes(StandardCharsets.UTF_8);
      ByteBuffer name = ByteBuffer.allocate(20 + nodeName.length);
      name.putLong(cluster.getMostSignificantBits()).putLong(cluster.getLeastSignificantBits());
      return UUID.nameUUIDFromBytes(name.putInt(place).put(nodeName).array());
    }
  }

  /**
   * Opens all that can be opened, in parallel. The others are awaited: folders of known drives that
   * are empty, not mounted, or hold a drive as it was before it was replaced.
   *
   * @param known the drives that metadata has seen before
   */
  LocalDrives(Config config, Map<UUID, DriveRow> known, DriveResources resources)
      throws IOException, InterruptedException {
    this.config = config;
    this.resources = resources;
    Set<Path> notMounted = DriveFolderState.notMounted(config.folders());
    Map<UUID, Long> lastIncarnations = new LinkedHashMap<>();
    for (int place = 0; place < config.folders().size(); place++) {
      UUID id = config.ids().get(place);
      DriveRow row = known.get(id);
      DriveFolderState state = DriveFolderState.of(folderOf(id), config.cluster(), row, notMounted);
      if (row == null) {
        lastIncarnations.put(id, 0L);
      } else if (mayOpen(id, state, row, row)) {
        lastIncarnations.put(id, row.getIncarnation());
      } else {
        state.report(folderOf(id), row);
        awaited.put(id, row);
      }
    }
    IOException failure = open(lastIncarnations).values().stream().findAny().orElse(null);
    if (failure != null && open.size() + awaited.size() < config.openMin()) {
      close();
      throw failure;
    }
  }

  /**
   * Whether the drive is to be opened, or formatted, in its folder.
   *
   * @param before the drive when its folder was found without it
   * @param now the drive as it is known
   */
  private boolean mayOpen(UUID id, DriveFolderState state, DriveRow before, DriveRow now) {
    return switch (state) {
      case PRESENT -> true;
      case NOT_MOUNTED -> {
        boolean isConfirmed = DriveFolderState.isConfirmed(folderOf(id));
        if (isConfirmed) {
          LOG.warn(
              "{} is empty and on another file system than its drive was. The replacement is"
                  + " confirmed: formatting a new drive.",
              folderOf(id));
        }
        yield isConfirmed;
      }
      case EMPTY -> {
        boolean isTakenForLost = now.getIncarnation() > before.getIncarnation();
        boolean mayFormat = isTakenForLost || DriveFolderState.isConfirmed(folderOf(id));
        if (mayFormat) {
          LOG.warn("{} is empty: formatting a replacement for its drive.", folderOf(id));
        }
        yield mayFormat;
      }
      case SUPERSEDED -> now.getRecalled() && isTakenBack(id, now);
    };
  }

  private boolean isTakenBack(UUID id, DriveRow now) {
    try {
      DriveRecall.begin(driveConfig(id, now.getIncarnation()), resources);
      return true;
    } catch (IOException e) {
      LOG.error("The drive in {} was recalled but cannot be taken back.", folderOf(id), e);
      return false;
    }
  }

  /**
   * @param lastIncarnations of those that are to be opened, as far as they are known
   * @return those that could not be opened, and why
   */
  private Map<UUID, IOException> open(Map<UUID, Long> lastIncarnations)
      throws InterruptedException {
    Map<UUID, Future<DriveStore>> opening = new LinkedHashMap<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(config.folders().size())) {
      lastIncarnations.forEach((id, last) -> opening.put(id, threads.submit(() -> open(id, last))));
    }
    Map<UUID, IOException> failures = new LinkedHashMap<>();
    for (Map.Entry<UUID, Future<DriveStore>> entry : opening.entrySet()) {
      try {
        open.put(entry.getKey(), entry.getValue().get());
      } catch (ExecutionException e) {
        Throwable cause = e.getCause() == null ? e : e.getCause();
        LOG.error("Cannot open a drive: {}", cause.getMessage());
        failures.put(entry.getKey(), new IOException(cause.getMessage(), cause));
      }
    }
    return failures;
  }

  private DriveConfig driveConfig(UUID id, long lastIncarnation) {
    return new DriveConfig(
        folderOf(id).resolve(DriveFolderState.DRIVE),
        config.cluster(),
        id,
        lastIncarnation,
        IoMode.AUTO,
        config.limits());
  }

  private DriveStore open(UUID id, long lastIncarnation) throws IOException {
    DriveStore store = DriveStore.open(driveConfig(id, lastIncarnation), resources);
    try {
      fileSystems.put(id, FileSystemIdentity.of(folderOf(id)).name());
      capacities.put(id, Files.getFileStore(folderOf(id)).getTotalSpace());
      Files.deleteIfExists(folderOf(id).resolve(DriveFolderState.CONFIRMATION)); // for this once
      return store;
    } catch (IOException | RuntimeException e) {
      store.close();
      throw e;
    }
  }

  private Path folderOf(UUID id) {
    return config.folders().get(config.ids().indexOf(id));
  }

  /** The folder of a drive; null if it is not of this process. */
  @Nullable Path folder(UUID id) {
    return config.ids().contains(id) ? folderOf(id) : null;
  }

  /** Folders of drives that may come yet. */
  List<Path> awaitedFolders() {
    return awaitedDrives().stream().map(drive -> folderOf(drive.id())).toList();
  }

  /** The drives that belong there, as they were known. */
  List<DriveId> awaitedDrives() {
    return config.ids().stream()
        .map(awaited::get)
        .filter(Objects::nonNull)
        .map(DriveId::of)
        .toList();
  }

  /** Folders of those of which nothing is there, though it could be: that may be a loss. */
  List<Path> emptyFolders() {
    return awaitedDrives().stream()
        .filter(drive -> isEmptied(drive.id()))
        .map(drive -> folderOf(drive.id()))
        .toList();
  }

  private boolean isEmptied(UUID id) {
    Set<Path> notMounted = DriveFolderState.notMounted(config.folders());
    return DriveFolderState.of(folderOf(id), config.cluster(), awaited.get(id), notMounted)
        == DriveFolderState.EMPTY;
  }

  /**
   * Opens those awaited drives that are there now, formats those that metadata knows in another
   * incarnation, because it has taken the old one for lost, and those of which somebody has
   * confirmed that they are; and takes those back that were recalled.
   */
  void fill(Map<UUID, DriveRow> known) throws IOException, InterruptedException {
    Set<Path> notMounted = DriveFolderState.notMounted(config.folders());
    Map<UUID, Long> lastIncarnations = new LinkedHashMap<>();
    for (Map.Entry<UUID, DriveRow> entry : awaited.entrySet()) {
      UUID id = entry.getKey();
      DriveRow now = known.getOrDefault(id, entry.getValue());
      DriveFolderState state = DriveFolderState.of(folderOf(id), config.cluster(), now, notMounted);
      if (mayOpen(id, state, entry.getValue(), now)) {
        lastIncarnations.put(id, now.getIncarnation());
      }
    }
    if (!lastIncarnations.isEmpty()) {
      lastIncarnations.keySet().removeAll(open(lastIncarnations).keySet());
      awaited.keySet().removeAll(lastIncarnations.keySet());
    }
  }

  /** The folder of a drive of this process. */
  Path folderOf(DriveStore drive) {
    return folderOf(drive.drive().id());
  }

  /** The id of the drive in this folder, as operators name it; else the name. */
  String idOfFolder(String name) {
    Path named = Path.of(name).toAbsolutePath().normalize();
    for (int place = 0; place < config.folders().size(); place++) {
      if (config.folders().get(place).toAbsolutePath().normalize().equals(named)) {
        return config.ids().get(place).toString();
      }
    }
    return name;
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
   * and those of which nothing is there in the incarnation that they would begin. Once metadata has
   * taken one for lost, nothing on it counts: none is told of that has been mounted since, or by
   * now is known not to be.
   */
  List<DriveRow> rows() {
    List<DriveRow> rows = new ArrayList<>();
    for (UUID id : config.ids()) {
      DriveStore drive = open.get(id);
      if (drive != null) {
        rows.add(
            drive.drive().toMessage().toBuilder()
                .setCapacityBytes(capacity(id))
                .setFileSystem(fileSystems.getOrDefault(id, ""))
                .build());
      }
    }
    for (DriveId before : awaitedDrives()) {
      if (isEmptied(before.id())) {
        DriveId next = new DriveId(before.id(), before.incarnation() + 1);
        rows.add(next.toMessage().toBuilder().setVacant(true).build());
      }
    }
    return rows;
  }

  private long capacity(UUID id) {
    try {
      capacities.put(id, Files.getFileStore(folderOf(id)).getTotalSpace());
    } catch (IOException e) {
      LOG.debug("Cannot read the capacity of {}; keeping the last known one.", folderOf(id), e);
    }
    return Math.min(capacities.getOrDefault(id, 0L), config.limits().capacityBytesMax());
  }

  Health.Drives health() {
    Health.DriveSurvey survey = new Health.DriveSurvey();
    config.ids().forEach(id -> survey.add(id, folderOf(id).toString(), open.get(id)));
    return survey.drives();
  }

  @Override
  public void close() {
    for (DriveStore store : open.values()) {
      try {
        store.close();
      } catch (Exception e) {
        LOG.error("Drive {} did not close cleanly.", store.drive(), e);
      }
    }
  }
}
