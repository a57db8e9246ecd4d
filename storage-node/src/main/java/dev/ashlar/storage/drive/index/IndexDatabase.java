package dev.ashlar.storage.drive.index;

import java.util.function.Consumer;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * A RocksDB instance and a listener that learns of each failure at once, independent of what
 * becomes of the exception.
 */
record IndexDatabase(RocksDB db, Consumer<IndexException> onFailure) {
  IndexException failed(RocksDBException e) {
    return told(IndexException.of(e));
  }

  /**
   * Reports a malformed row.
   *
   * @param e the exception from decoding the row
   */
  IndexException malformed(RuntimeException e) {
    return told(IndexException.malformed(e));
  }

  IndexException told(IndexException failure) {
    onFailure.accept(failure);
    return failure;
  }
}
