package dev.ashlar.storage.drive;

import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.segment.Segment;
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
 * Returns a replaced drive to service with its data, in a new incarnation because it has missed
 * changes meanwhile.
 */
public final class DriveRecall {
  private static final Logger LOG = LoggerFactory.getLogger(DriveRecall.class);

  private DriveRecall() {}

  public static boolean isOfDrive(String file) {
    return file.equals(DriveIdentity.FILE) || Segment.isSegment(file);
  }

  /**
   * The incarnation of this drive in a directory that is not open; empty if the drive is not there
   * or cannot be read.
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
      LOG.debug("{} has no readable identity; opening it reports the reason", folder, e);
      return OptionalLong.empty();
    }
  }

  /**
   * Durably begins a new incarnation of a drive that is not open. Its data stays.
   *
   * @param config configuration of the drive; the new incarnation is later than the last one named
   *     there
   * @throws IOException if the directory belongs to another drive or is in use
   */
  public static DriveId begin(DriveConfig config, DriveResources resources) throws IOException {
    FileChannel lock = DriveDirectory.lock(config.folder());
    try (lock) {
      RawFiles files = ChannelFiles.open(config.folder(), config.ioMode());
      long now = resources.clock().instant().getEpochSecond();
      long later = Math.max(now, config.lastIncarnation() + 1);
      DriveCore.OpenContext setting =
          new DriveCore.OpenContext(config.cluster(), config.drive(), later);
      if (!files.list().contains(DriveIdentity.FILE)) {
        throw new IOException("drive directory " + config.folder() + " holds no drive to recall");
      }
      DriveIdentity next = DriveCore.identify(files, setting).nextIncarnation(later);
      next.write(files);
      LOG.warn("Recalled drive {} in {}", next.drive(), config.folder());
      return next.drive();
    }
  }
}
