package dev.ashlar.storage.drive;

import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.io.ChannelFiles;
import dev.ashlar.storage.io.IoMode;
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A drive that was replaced, and takes its place again with what it holds: in a new incarnation,
 * because it has missed what happened meanwhile.
 */
public final class DriveRecall {
  private static final Logger LOG = LoggerFactory.getLogger(DriveRecall.class);

  private DriveRecall() {}

  /** Whether a folder with a file of this name holds a drive, or what is left of one. */
  public static boolean isOfDrive(String file) {
    return file.equals(DriveIdentity.FILE) || SegmentFiles.isSegment(file);
  }

  /**
   * Of this drive in its folder, which is not open; empty if it is not there, or cannot be read.
   */
  public static OptionalLong incarnation(Path folder, UUID cluster, UUID drive) {
    if (!Files.isRegularFile(folder.resolve(DriveIdentity.FILE))) {
      return OptionalLong.empty();
    }
    try {
      RawFiles files = ChannelFiles.open(folder, IoMode.BUFFERED);
      DriveIdentity found = DriveIdentity.read(files);
      boolean isThis = found.cluster().equals(cluster) && found.drive().id().equals(drive);
      return isThis ? OptionalLong.of(found.drive().incarnation()) : OptionalLong.empty();
    } catch (IOException e) {
      LOG.debug("{} has no identity that can be read: whoever opens it says why", folder, e);
      return OptionalLong.empty();
    }
  }

  /**
   * Begins the new incarnation, durably, of a drive that is not open. What it holds stays.
   *
   * @param config of the drive; the new incarnation is above the last one that it names
   * @throws IOException if the folder is not this drive's, or is in use
   */
  public static DriveId begin(DriveConfig config, DriveResources resources) throws IOException {
    FileChannel lock = DriveDirectory.lock(config.folder());
    try (lock) {
      RawFiles files = ChannelFiles.open(config.folder(), config.ioMode());
      long now = resources.clock().instant().getEpochSecond();
      long later = Math.max(now, config.lastIncarnation() + 1);
      DriveCore.Setting setting = new DriveCore.Setting(config.cluster(), config.drive(), later);
      if (!files.list().contains(DriveIdentity.FILE)) {
        throw new IOException("drive folder " + config.folder() + " holds no drive to recall");
      }
      DriveIdentity next = DriveCore.identify(files, setting).nextIncarnation(later);
      next.write(files);
      LOG.warn("{} is drive {} from now on: it was recalled", config.folder(), next.drive());
      return next.drive();
    }
  }
}
