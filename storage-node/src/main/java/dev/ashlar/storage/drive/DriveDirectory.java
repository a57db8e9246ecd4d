package dev.ashlar.storage.drive;

import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.IndexDirectory;
import dev.ashlar.storage.drive.index.IndexException;
import dev.ashlar.storage.drive.index.IndexFloor;
import dev.ashlar.storage.drive.index.RocksShardIndex;
import dev.ashlar.storage.drive.metrics.DriveMetrics;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.io.BoundedFiles;
import dev.ashlar.storage.io.ChannelFiles;
import dev.ashlar.storage.io.PrivateFiles;
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The locked directory of a drive. Its index and log can be opened repeatedly. */
final class DriveDirectory implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DriveDirectory.class);
  private static final String LOCK_FILE = "lock";
  private static final String INDEX_FOLDER = "index";

  private final DriveConfig config;
  private final DriveResources resources;
  private final FileChannel lockFile;
  private final RawFiles files;
  private final DriveCore.OpenContext setting;
  private final DriveIdentity identity;
  private final Object device;
  private boolean isClosed;

  /**
   * @param wrap wraps the files of the directory
   */
  static DriveDirectory open(
      DriveConfig config, DriveResources resources, UnaryOperator<RawFiles> wrap)
      throws IOException {
    Path folder = config.folder();
    PrivateFiles.createFolders(folder);
    FileChannel lockFile = lock(folder);
    try {
      return new DriveDirectory(config, resources, wrap, lockFile);
    } catch (IOException e) {
      lockFile.close();
      throw inFolder(folder, e);
    } catch (RuntimeException e) {
      lockFile.close();
      throw e;
    }
  }

  private DriveDirectory(
      DriveConfig config,
      DriveResources resources,
      UnaryOperator<RawFiles> wrap,
      FileChannel lockFile)
      throws IOException {
    this.config = config;
    this.resources = resources;
    this.lockFile = lockFile;
    RawFiles all = wrap.apply(ChannelFiles.open(config.folder(), config.ioMode()));
    files = new BoundedFiles(all, resources.openSegments());
    long now = resources.clock().instant().getEpochSecond();
    long later = Math.max(now, config.lastIncarnation() + 1);
    device = DriveResources.device(config.folder());
    setting =
        new DriveCore.OpenContext(
            config.cluster(), config.drive(), later, () -> resources.drivesOn(device));
    identity = DriveCore.identify(files, setting);
    resources.indexOpens();
    resources.driveOpened(device);
  }

  private static IOException inFolder(Path folder, IOException e) {
    return new IOException("drive directory " + folder + ": " + e.getMessage(), e);
  }

  /** The identity of the drive when the directory was opened. */
  DriveIdentity identity() {
    return identity;
  }

  boolean holdsSegments() throws IOException {
    return files.list().stream().anyMatch(Segment::isSegment);
  }

  /** Free space for files of the index, in bytes. */
  long indexRoomBytes() throws IOException {
    Path index = config.folder().resolve(INDEX_FOLDER);
    return Math.min(files.usableBytes(), Files.getFileStore(index).getUsableSpace());
  }

  /** Fails if no file can be written next to those of the index. */
  void probeIndex() throws IOException {
    IndexDirectory.probe(config.folder().resolve(INDEX_FOLDER));
  }

  /**
   * @param onFailure called for each failure of the open index
   */
  RocksShardIndex openIndex(Consumer<IndexException> onFailure) throws IOException {
    checkIdentity();
    try {
      RocksShardIndex index =
          new RocksShardIndex(config.folder().resolve(INDEX_FOLDER), resources.index(), onFailure);
      try {
        indexFloor().check(index);
      } catch (IndexException e) {
        index.close();
        throw e;
      }
      return index;
    } catch (IOException e) {
      throw inFolder(config.folder(), e);
    }
  }

  /** Opens the log and replays it to the index. */
  DriveCore openCore(RocksShardIndex index, DriveMetrics meters) throws IOException {
    DriveCore.Parts parts =
        new DriveCore.Parts(index, resources.slabs(), resources.recent(), meters);
    try {
      return new DriveCore(files, config.limits(), setting, parts);
    } catch (IOException e) {
      throw inFolder(config.folder(), e);
    }
  }

  void discardIndex() throws IOException {
    checkIdentity();
    IndexDirectory.discard(config.folder().resolve(INDEX_FOLDER));
    indexFloor().clear(); // afterwards: a crash in between must not leave the old index unchecked
  }

  private IndexFloor indexFloor() {
    return new IndexFloor(files, identity.drive().id());
  }

  /** Checks that the drive is still mounted. */
  private void checkIdentity() throws IOException {
    if (!DriveIdentity.read(files).drive().id().equals(identity.drive().id())) {
      throw new IOException("drive directory " + config.folder() + " now holds another drive");
    }
  }

  @Override
  public void close() throws IOException {
    if (!isClosed) {
      isClosed = true;
      resources.driveClosed(device);
    }
    lockFile.close();
  }

  static FileChannel lock(Path folder) throws IOException {
    return lock(folder, Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE));
  }

  /**
   * For a reader. Null on a file system that is mounted read-only, where no process can use the
   * drive.
   */
  static @Nullable FileChannel lockToRead(Path folder) throws IOException {
    if (Files.getFileStore(folder).isReadOnly()) {
      return null;
    }
    try {
      return lock(folder, Set.of(StandardOpenOption.WRITE));
    } catch (NoSuchFileException e) {
      return lock(folder);
    }
  }

  private static FileChannel lock(Path folder, Set<StandardOpenOption> options) throws IOException {
    FileChannel channel = PrivateFiles.open(folder.resolve(LOCK_FILE), options);
    try {
      if (channel.tryLock() != null) {
        return channel;
      }
    } catch (OverlappingFileLockException e) {
      LOG.debug("Locked by this process", e);
    } catch (IOException e) {
      channel.close();
      throw e;
    }
    channel.close();
    throw new IOException("drive directory " + folder + " is in use by another server");
  }
}
