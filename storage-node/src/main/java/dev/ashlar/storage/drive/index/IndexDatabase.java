package dev.ashlar.storage.drive.index;

import java.util.function.Consumer;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * RocksDB, and who is told at once when it fails, whichever thread meets that and whatever becomes
 * of the exception.
 */
record IndexDatabase(RocksDB db, Consumer<IndexException> onFailure) {
  IndexException failed(RocksDBException e) {
    return told(IndexException.of(e));
  }

  /**
   * A row is not in the form in which rows are written.
   *
   * @param e what reading it has come to
   */
  IndexException malformed(RuntimeException e) {
    return told(IndexException.malformed(e));
  }

  /** Tells of it. */
  IndexException told(IndexException failure) {
    onFailure.accept(failure);
    return failure;
  }
}
