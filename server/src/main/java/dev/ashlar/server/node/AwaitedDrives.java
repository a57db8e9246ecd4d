package dev.ashlar.server.node;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.process.BackgroundThread;
import dev.ashlar.server.admin.Admin;
import dev.ashlar.server.cluster.DriveUse;
import dev.ashlar.storage.drive.DriveStore;
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

/**
 * The drives of this process that are not there: metadata is asked whether they may be replaced,
 * and each is served as soon as it is there, while the others are served already.
 */
final class AwaitedDrives implements Admin.DriveKnowledge {
  private static final Logger LOG = LoggerFactory.getLogger(AwaitedDrives.class);
  static final Duration PAUSE = Duration.ofSeconds(1);

  private final LocalDrives drives;
  private final MetadataClient metadata;
  private final Registration registration;
  private final Newcomer found;
  private final Duration lookAgain;

  /** Those that were not there when the process began to serve. */
  private final Map<UUID, PendingDrive> late = new ConcurrentHashMap<>();

  /** How metadata is told of the drives of this process. */
  interface Registration {
    /**
     * @param rows as {@link LocalDrives#rows} has them; all others of this process are absent
     * @throws IOException when metadata does not take them; the message says why
     */
    void register(List<DriveRow> rows) throws IOException, MetadataUnavailableException;
  }

  /** Hears of a drive that has come late. */
  interface Newcomer {
    void come(DriveStore drive) throws IOException;
  }

  /**
   * @param found hears of each late drive before it is served
   * @param lookAgain the longest time between two looks
   */
  AwaitedDrives(
      LocalDrives drives,
      MetadataClient metadata,
      Registration registration,
      Newcomer found,
      Duration lookAgain) {
    this.drives = drives;
    this.metadata = metadata;
    this.registration = registration;
    this.found = found;
    this.lookAgain = lookAgain;
  }

  /** The drives as metadata knows them now. */
  static Map<UUID, DriveRow> known(MetadataClient metadata) throws MetadataUnavailableException {
    Map<UUID, DriveRow> known = new HashMap<>();
    metadata.registry().getDrivesList().forEach(row -> known.put(DriveId.idOf(row), row));
    return known;
  }

  /**
   * Has metadata take those drives for lost whose folders are empty, as far as what they had can be
   * rebuilt, and formats replacements of them. The others may be mounted yet, or come later.
   *
   * @param tries once a second: what stands against it may be over soon
   */
  void fill(int tries) throws IOException, MetadataUnavailableException, InterruptedException {
    if (drives.awaitedFolders().isEmpty()) {
      return;
    }
    drives.fill(known(metadata));
    for (int i = 1; i < tries && !drives.emptyFolders().isEmpty(); i++) {
      if (i == 1) {
        LOG.warn(
            "Folders {} are empty; asking metadata whether their drives may be replaced.",
            drives.emptyFolders());
      }
      Thread.sleep(PAUSE);
      ask();
      drives.fill(known(metadata));
    }
    for (Path folder : drives.emptyFolders()) {
      LOG.error(
          "{} is empty. Its drive is not replaced yet: other drives are down or being rebuilt, and"
              + " data could be lost. If the drive is not mounted, mount it. If it is to be replaced,"
              + " wait: it is replaced when the other drives have recovered. If they never will,"
              + " create the file {} in the folder. This process continues and checks again at least"
              + " every {} s.",
          folder,
          DriveFolderState.CONFIRMATION,
          lookAgain.toSeconds());
    }
    drives.awaitedDrives().forEach(known -> late.put(known.id(), new PendingDrive(known)));
    ask();
  }

  /** Metadata decides anew with each registration. */
  private void ask() throws IOException, MetadataUnavailableException {
    registration.register(drives.rows());
  }

  /**
   * Looks again and again, until all are served or it is closed: often at first and after one has
   * come, for others may come with it.
   *
   * @param newcomer hears of each drive when it is served
   * @param first the time to the first look
   */
  BackgroundThread start(Newcomer newcomer, Duration first) {
    return BackgroundThread.start(
        "awaited-drives",
        () -> {
          Duration pause = first;
          while (late.values().stream().anyMatch(drive -> !drive.isThere())) {
            Thread.sleep(pause);
            pause = shorter(pause.multipliedBy(2), lookAgain);
            try {
              if (isWaiting()) {
                askAgain();
              }
              if (serve(newcomer)) {
                pause = first;
              }
            } catch (MetadataUnavailableException e) {
              LOG.debug(
                  "Still waiting for the drives of {}: {}",
                  drives.awaitedFolders(),
                  e.getMessage());
            } catch (IOException | RuntimeException e) {
              LOG.error("Checking for missing drives failed; it is retried.", e);
            }
          }
        });
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  private void askAgain() throws IOException, MetadataUnavailableException, InterruptedException {
    ask();
    Map<UUID, DriveRow> known = known(metadata);
    for (Map.Entry<UUID, PendingDrive> drive : late.entrySet()) {
      DriveRow now = known.get(drive.getKey());
      if (now != null) {
        drive.getValue().isKnownAs(DriveId.of(now));
      }
    }
    drives.fill(known);
  }

  /**
   * Serves what has been opened since; before anybody is answered, metadata knows its life.
   *
   * @return whether there was any
   */
  private boolean serve(Newcomer newcomer) throws IOException, MetadataUnavailableException {
    List<DriveStore> come = new ArrayList<>(drives.stores());
    come.removeIf(drive -> !isAwaited(drive.drive().id()));
    if (come.isEmpty()) {
      return false;
    }
    for (DriveStore drive : come) {
      found.come(drive);
    }
    ask();
    for (DriveStore drive : come) {
      Objects.requireNonNull(late.get(drive.drive().id())).come(drive);
      LOG.info("{} is now served as drive {}.", drives.folderOf(drive), drive.drive());
      newcomer.come(drive);
    }
    return true;
  }

  private boolean isAwaited(UUID id) {
    PendingDrive drive = late.get(id);
    return drive != null && !drive.isThere();
  }

  /** Whether drives may come yet. */
  boolean isWaiting() {
    return !drives.awaitedFolders().isEmpty();
  }

  /** Those that may come yet, and that have come since. */
  Collection<PendingDrive> late() {
    return late.values();
  }

  @Override
  public boolean hasFailed(UUID drive) {
    return drives.hasFailed(drive);
  }

  @Override
  public boolean isMissing(UUID drive) {
    return store(drive) == null;
  }

  @Override
  public @Nullable DriveUse use(DriveRow row) {
    return drives.use(DriveId.idOf(row));
  }

  @Override
  public @Nullable Path folder(UUID drive) {
    return drives.folder(drive);
  }

  @Override
  public String idOfFolder(String folder) {
    return drives.idOfFolder(folder);
  }

  /** The drive of this process with this id, or null where it is not served. */
  @Nullable ShardStore store(UUID id) {
    return isAwaited(id) ? null : drives.store(id);
  }
}
