package dev.ashlar.storage.drive;

import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LiveFileMetaData;
import org.rocksdb.Logger;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.SstFileReader;
import org.rocksdb.SstFileReaderIterator;
import org.rocksdb.Status;

/**
 * Reads an index that is in use: all blocks of its tables, past all caches and as slowly as it is
 * told, and the list of its tables. What has rotted is found before it is needed. For one thread.
 */
final class IndexScrub {
  private static final int READ_BYTES = 256 << 10;

  /** Files come and go while they are listed and opened. */
  private static final int LIST_ATTEMPTS = 3;

  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final RocksDB db;
  private final Path folder;
  private final SegmentScrub.Pace pace;

  IndexScrub(RocksDB db, Path folder, SegmentScrub.Pace pace) {
    this.db = db;
    this.folder = folder;
    this.pace = pace;
  }

  /**
   * Reads all.
   *
   * @return false if it was told to end
   * @throws RocksDBException what is wrong
   */
  boolean verify() throws RocksDBException {
    readList();
    for (String table : tables()) {
      if (!verify(table)) {
        return false;
      }
    }
    return true;
  }

  private Set<String> tables() {
    return db.getLiveFilesMetaData().stream()
        .map(LiveFileMetaData::fileName)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private boolean verify(String table) throws RocksDBException {
    try {
      return verify(table, true);
    } catch (RocksDBException e) {
      if (!tables().contains(table)) {
        return true; // merged with others meanwhile
      }
      if (isOfDirectReads(e)) {
        return verify(table, false);
      }
      throw e;
    }
  }

  /** Not every file system has them. */
  private static boolean isOfDirectReads(RocksDBException e) {
    Status.Code code = e.getStatus() == null ? Status.Code.Undefined : e.getStatus().getCode();
    return code != Status.Code.Corruption;
  }

  /**
   * @param isDirect whether what the page cache has is of no interest
   */
  private boolean verify(String table, boolean isDirect) throws RocksDBException {
    BlockBasedTableConfig uncached = new BlockBasedTableConfig().setNoBlockCache(true);
    try (Options options = new Options().setUseDirectReads(isDirect);
        SstFileReader reader = new SstFileReader(options.setTableFormatConfig(uncached));
        ReadOptions reading = new ReadOptions().setVerifyChecksums(true).setFillCache(false)) {
      reader.open(folder + table);
      try (SstFileReaderIterator rows = reader.newIterator(reading)) {
        int bytes = READ_BYTES;
        for (rows.seekToFirst(); rows.isValid(); rows.next()) {
          bytes += rows.key().length + rows.value().length;
          if (bytes >= READ_BYTES) {
            if (!pace.take(READ_BYTES)) {
              return false;
            }
            bytes -= READ_BYTES;
          }
        }
        rows.status();
      }
    }
    return true;
  }

  /** Opens the index beside itself, as the next start will. */
  private void readList() throws RocksDBException {
    for (int attempt = 1; ; attempt++) {
      try (Options options = new Options().setMaxOpenFiles(16);
          Logger silent = new Silent()) {
        options.setLogger(silent);
        RocksDB.openReadOnly(options, folder.toString()).close();
        return;
      } catch (RocksDBException e) {
        if (attempt == LIST_ATTEMPTS) {
          throw e;
        }
        LockSupport.parkNanos(this, PAUSE_NANOS);
      }
    }
  }

  /** Else the log file of the open index would be taken away from it. */
  private static final class Silent extends Logger {
    Silent() {
      super(InfoLogLevel.FATAL_LEVEL);
    }

    @Override
    protected void log(InfoLogLevel level, String message) {}
  }
}
