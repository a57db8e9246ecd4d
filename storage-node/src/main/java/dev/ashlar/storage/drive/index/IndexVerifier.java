package dev.ashlar.storage.drive.index;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
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
import org.slf4j.LoggerFactory;

/**
 * Verifies an index that is in use. It reads all blocks of its tables, bypassing caches and at a
 * limited rate, and the manifest, so that damage is found before the data is needed. Not
 * thread-safe.
 */
public final class IndexVerifier {
  private static final org.slf4j.Logger LOG = LoggerFactory.getLogger(IndexVerifier.class);

  private static final int READ_BYTES = 256 << 10;

  /** Files appear and disappear while they are listed and opened. */
  private static final int LIST_ATTEMPTS = 3;

  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Files that a compaction or flush of the open index may remove. */
  private static final Pattern PASSING_FILE = Pattern.compile("\\d+\\.(sst|log)");

  private final IndexDatabase db;
  private final Path folder;
  private final ReadThrottle throttle;

  IndexVerifier(IndexDatabase db, Path folder, ReadThrottle throttle) {
    this.db = db;
    this.folder = folder;
    this.throttle = throttle;
  }

  /**
   * Verifies the manifest and all tables.
   *
   * @return false if it was stopped
   * @throws IndexException if the index is damaged; the failure is also reported
   * @throws IOException if the index cannot be read now, which says nothing about its content
   */
  boolean verify() throws IOException {
    IOException unread = readList();
    for (String table : tables()) {
      if (!verify(table)) {
        return false;
      }
    }
    if (unread != null) {
      throw unread;
    }
    return true;
  }

  private Set<String> tables() {
    return db.db().getLiveFilesMetaData().stream()
        .map(LiveFileMetaData::fileName)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private boolean verify(String table) throws IOException {
    try {
      return verifyLive(table);
    } catch (RocksDBException e) {
      throw IndexException.of(e).kind().isOfContent() ? db.failed(e) : unread(e);
    }
  }

  private boolean verifyLive(String table) throws RocksDBException {
    try {
      return verify(table, true);
    } catch (RocksDBException e) {
      if (!tables().contains(table)) {
        return true; // compacted meanwhile
      }
      if (isOfDirectReads(e)) {
        return verify(table, false);
      }
      throw e;
    }
  }

  private static IOException unread(RocksDBException e) {
    return new IOException("reading the index failed: " + e.getMessage(), e);
  }

  /** Not every file system supports direct reads. */
  private static boolean isOfDirectReads(RocksDBException e) {
    Status.Code code = e.getStatus() == null ? Status.Code.Undefined : e.getStatus().getCode();
    return code != Status.Code.Corruption;
  }

  /**
   * @param isDirect whether to bypass the page cache
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
            if (!throttle.take(READ_BYTES)) {
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

  /**
   * Opens the index a second time, as the next start will. Only a failure that persists with the
   * same manifest and is not caused by a removed file counts as damage.
   *
   * @return the reason why it could not be read now, or null
   */
  private @Nullable IOException readList() throws IOException {
    String list = nameOfList();
    boolean isDamaged = true;
    for (int attempt = 1; ; attempt++) {
      try (Options options = new Options().setMaxOpenFiles(16);
          Logger silent = new Silent()) {
        options.setLogger(silent);
        RocksDB.openReadOnly(options, folder.toString()).close();
        return null;
      } catch (RocksDBException e) {
        isDamaged &= isOfList(e);
        if (attempt == LIST_ATTEMPTS) {
          if (isDamaged && list.equals(nameOfList())) {
            throw db.failed(e);
          }
          return unread(e);
        }
        LockSupport.parkNanos(this, PAUSE_NANOS);
      }
    }
  }

  /** The manifest's name as the next start will read it; empty if unreadable. */
  private String nameOfList() {
    try {
      return Files.readString(folder.resolve(IndexDirectory.FIRST), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      LOG.debug("The name of the manifest in {} cannot be read", folder, e);
      return "";
    }
  }

  /** Whether the manifest itself may be damaged. */
  public static boolean isOfList(RocksDBException e) {
    return IndexException.of(e).kind().isOfContent()
        && !PASSING_FILE.matcher(String.valueOf(e.getMessage())).find();
  }

  /** Keeps RocksDB from replacing the log file of the open index. */
  private static final class Silent extends Logger {
    Silent() {
      super(InfoLogLevel.FATAL_LEVEL);
    }

    @Override
    protected void log(InfoLogLevel level, String message) {}
  }
}
