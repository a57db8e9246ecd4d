package dev.ashlar.metadata.table;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/**
 * All rows of a directory that nobody writes to, in the order of their keys; each block's checksum
 * is verified. Thread-safe, so that one that nobody reads any more can be closed.
 */
public final class TableScan implements AutoCloseable {
  static {
    RocksDB.loadLibrary();
  }

  private static final int OPEN_FILES_MAX = 512;

  private final Options options = new Options().setMaxOpenFiles(OPEN_FILES_MAX);
  private final ReadOptions reads = new ReadOptions().setFillCache(false).setVerifyChecksums(true);
  private final String name;
  private final RocksDB db;
  private final RocksIterator rows;
  private long usedNanos = System.nanoTime();
  private boolean isClosed;

  /**
   * @throws DamagedTablesException when a table file is missing or damaged
   */
  public TableScan(Path directory) {
    name = directory.toString();
    try {
      db = RocksDB.openReadOnly(options, name);
    } catch (RocksDBException e) {
      reads.close();
      options.close();
      throw RocksTable.translated("cannot open " + name, e);
    }
    rows = db.newIterator(reads);
    rows.seekToFirst();
  }

  /**
   * Whether there is a row here; false beyond the last one.
   *
   * @throws DamagedTablesException when it cannot be read
   */
  public synchronized boolean isValid() {
    requireOpen();
    usedNanos = System.nanoTime();
    if (rows.isValid()) {
      return true;
    }
    try {
      rows.status();
      return false;
    } catch (RocksDBException e) {
      throw RocksTable.translated(name, e);
    }
  }

  /** The value of this key, wherever the scan is; null if there is none. */
  public synchronized byte @Nullable [] get(byte[] key) {
    requireOpen();
    try {
      return db.get(reads, key);
    } catch (RocksDBException e) {
      throw RocksTable.translated(name, e);
    }
  }

  public synchronized byte[] key() {
    requireOpen();
    return rows.key();
  }

  public synchronized byte[] value() {
    requireOpen();
    return rows.value();
  }

  public synchronized void next() {
    requireOpen();
    rows.next();
  }

  private void requireOpen() {
    if (isClosed) {
      throw new IllegalStateException("the rows of " + name + " are closed");
    }
  }

  /** For how long nobody has read a row. */
  public synchronized long idleNanos() {
    return System.nanoTime() - usedNanos;
  }

  @Override
  public synchronized void close() {
    if (isClosed) {
      return;
    }
    isClosed = true;
    rows.close();
    db.close();
    reads.close();
    options.close();
  }
}
