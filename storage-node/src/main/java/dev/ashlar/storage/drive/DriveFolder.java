package dev.ashlar.storage.drive;

import dev.ashlar.storage.io.ChannelFiles;
import dev.ashlar.storage.io.Private;
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A drive's folder, locked, with everything in it open. */
final class DriveFolder implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DriveFolder.class);
  private static final String LOCK_FILE = "lock";
  private static final String INDEX_FOLDER = "index";

  private final FileChannel lockFile;
  private final DriveMeters meters;
  private final RocksShardIndex index;
  private final DriveCore core;

  /**
   * @param wrap stands between the engine and the folder's files
   */
  static DriveFolder open(
      DriveConfig config, DriveResources resources, UnaryOperator<RawFiles> wrap)
      throws IOException {
    Path folder = config.folder();
    Private.createFolders(folder);
    FileChannel lockFile = lock(folder);
    try {
      return new DriveFolder(config, resources, wrap, lockFile);
    } catch (IOException e) {
      lockFile.close();
      throw new IOException("drive folder " + folder + ": " + e.getMessage(), e);
    } catch (RuntimeException e) {
      lockFile.close();
      throw e;
    }
  }

  private DriveFolder(
      DriveConfig config,
      DriveResources resources,
      UnaryOperator<RawFiles> wrap,
      FileChannel lockFile)
      throws IOException {
    this.lockFile = lockFile;
    RawFiles files = wrap.apply(ChannelFiles.open(config.folder(), config.ioMode()));
    long now = resources.clock().instant().getEpochSecond();
    long later = Math.max(now, config.lastIncarnation() + 1);
    DriveCore.Setting setting = new DriveCore.Setting(config.cluster(), config.drive(), later);
    DriveIdentity identity = DriveCore.identify(files, setting);
    index = openIndex(config.folder().resolve(INDEX_FOLDER), resources);
    DriveMeters newMeters = new DriveMeters(resources.meters(), identity.drive().id().toString());
    try {
      meters = newMeters;
      SegmentLog.Parts parts =
          new SegmentLog.Parts(index, resources.slabs(), resources.recent(), newMeters);
      core = DriveCore.open(files, config.limits(), setting, parts);
    } catch (IOException | RuntimeException e) {
      newMeters.close();
      index.close();
      throw e;
    }
  }

  DriveMeters meters() {
    return meters;
  }

  DriveCore core() {
    return core;
  }

  @Override
  public void close() throws IOException {
    meters.close();
    index.close();
    try (lockFile) {
      core.close();
    }
  }

  static FileChannel lock(Path folder) throws IOException {
    FileChannel channel =
        Private.open(
            folder.resolve(LOCK_FILE), Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE));
    @Nullable FileLock lock = null;
    try {
      lock = channel.tryLock();
    } catch (OverlappingFileLockException e) {
      LOG.debug("locked by this process", e);
    } finally {
      if (lock == null) {
        channel.close();
      }
    }
    if (lock == null) {
      throw new IOException("drive folder " + folder + " is in use by another server");
    }
    return channel;
  }

  /** A damaged index costs a replay of the whole log, no data. */
  private static RocksShardIndex openIndex(Path folder, DriveResources resources)
      throws IOException {
    try {
      return new RocksShardIndex(folder, resources);
    } catch (IOException e) {
      if (!(e.getCause() instanceof RocksDBException cause)
          || cause.getStatus() == null
          || cause.getStatus().getCode() != Status.Code.Corruption) {
        throw e;
      }
      LOG.error("{} is damaged and is rebuilt from the segments: {}", folder, e.getMessage());
      LOG.debug("the damage", e);
      deleteFilesIn(folder);
      return new RocksShardIndex(folder, resources);
    }
  }

  private static void deleteFilesIn(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
  }
}
