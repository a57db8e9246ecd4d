package dev.ashlar.server.node;

import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.server.config.MetadataFolders;
import dev.ashlar.storage.drive.DriveRecall;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is in the folder of a drive, compared with what metadata knows of that drive. */
enum DriveFolderState {
  /** The drive as it was last; or anything, where none is known or nothing can be seen. */
  PRESENT,
  /** Nothing: the drive is to be replaced, or comes later. */
  EMPTY,
  /** Nothing, because the file system that the drive is on is not mounted. */
  NOT_MOUNTED,
  /** The drive as it was before it was replaced. */
  SUPERSEDED;

  private static final Logger LOG = LoggerFactory.getLogger(DriveFolderState.class);

  /** Where in a data folder the drive's own files are. */
  static final String DRIVE = "drive";

  /** In a data folder: whoever made it knows that the drive before is gone for good. */
  static final String CONFIRMATION = "replacement-confirmed";

  /**
   * @param folder of the data
   * @param known null: the drive is new
   * @param notMounted folders that do not seem to be mounted, for drives of which it is not known
   *     where they were
   */
  static DriveFolderState of(
      Path folder, UUID cluster, @Nullable DriveRow known, Set<Path> notMounted) {
    if (known == null || isUnusable(folder)) {
      return PRESENT;
    }
    if (!isKnownEmpty(folder)) {
      OptionalLong incarnation =
          DriveRecall.incarnation(folder.resolve(DRIVE), cluster, DriveId.idOf(known));
      return incarnation.orElse(Long.MAX_VALUE) < known.getIncarnation() ? SUPERSEDED : PRESENT;
    }
    String before = known.getFileSystem();
    boolean isMounted =
        before.isEmpty() ? !notMounted.contains(folder) : mayBeEmptied(folder, before);
    return isMounted ? EMPTY : NOT_MOUNTED;
  }

  private static boolean mayBeEmptied(Path folder, String fileSystem) {
    try {
      return FileSystemIdentity.of(folder).mayBeEmptied(fileSystem);
    } catch (IOException | RuntimeException e) {
      LOG.warn(
          "{} is empty, and its file system cannot be identified. Check the mount.", folder, e);
      return false;
    }
  }

  /**
   * Whether there is no drive in this data folder: one that ends while it is formatted is none.
   *
   * @throws IOException if that cannot be told
   */
  static boolean isEmpty(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder.resolve(DRIVE))) {
      return files
          .map(file -> String.valueOf(file.getFileName()))
          .noneMatch(DriveRecall::isOfDrive);
    } catch (NoSuchFileException e) {
      return true;
    } catch (UncheckedIOException e) {
      throw new IOException(folder + " cannot be read: " + e.getMessage(), e);
    }
  }

  /** The same; a folder that cannot be read is not known to be empty. */
  static boolean isKnownEmpty(Path folder) {
    try {
      return isEmpty(folder);
    } catch (IOException e) {
      LOG.debug("{} cannot be read; opening the drive reports the reason.", folder, e);
      return false;
    }
  }

  /** Whether any of these data folders has been used before, or may have been. */
  static boolean holdData(List<Path> dataFolders) {
    return !dataFolders.stream().allMatch(DriveFolderState::isKnownEmpty);
  }

  /**
   * Those of the folders of a running installation that are not there now: they hold nothing and
   * are no mount points, while the folders do lie on several devices.
   */
  static Set<Path> notMounted(List<Path> dataFolders) {
    Map<Path, FileStore> devices = MetadataFolders.devices(dataFolders);
    Set<Path> missing = new HashSet<>();
    if (new HashSet<>(devices.values()).size() > 1) {
      for (Path folder : dataFolders) {
        if (isKnownEmpty(folder) && !isMountPoint(folder)) {
          missing.add(folder);
        }
      }
    }
    return missing;
  }

  private static boolean isMountPoint(Path folder) {
    Path parent = folder.getParent();
    try {
      return Files.isDirectory(folder)
          && parent != null
          && !Files.getFileStore(folder).equals(Files.getFileStore(parent));
    } catch (IOException e) {
      LOG.warn("Cannot determine whether {} is mounted; treating it as not mounted.", folder, e);
      return false;
    }
  }

  /** It says nothing of what the drive has: whoever opens it says why it cannot. */
  private static boolean isUnusable(Path folder) {
    return Files.exists(folder) && !(Files.isDirectory(folder) && Files.isReadable(folder));
  }

  static boolean isConfirmed(Path folder) {
    return Files.exists(folder.resolve(CONFIRMATION));
  }

  /** Tells the operator what is wrong, and what to do. */
  void report(Path folder, DriveRow known) {
    switch (this) {
      case PRESENT -> {}
      case EMPTY ->
          LOG.warn("{} is empty. It was the folder of drive {}.", folder, DriveId.of(known));
      case NOT_MOUNTED ->
          LOG.error(
              "{} is empty, and its drive {} is not mounted: it was on another file system{}. Mount"
                  + " it; it is then served without a restart. To replace it, mount an empty file"
                  + " system there. If the folder is below the mount point of that file system,"
                  + " also create the file {} in the folder after mounting.",
              folder,
              DriveId.of(known),
              known.getFileSystem().isEmpty() ? "" : ", " + known.getFileSystem(),
              CONFIRMATION);
      case SUPERSEDED ->
          LOG.error(
              "{} holds drive {}, which has been replaced. It is not used. To take it back, run:"
                  + " ashlar admin drive recall {}. Otherwise mount the replacement or an empty file"
                  + " system there.",
              folder,
              DriveId.idOf(known),
              DriveId.idOf(known));
    }
  }
}
