package dev.ashlar.metadata.table;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.ReadTier;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.Snapshot;
import org.rocksdb.Status;

/** Reads of one snapshot of a RocksDB instance; must be closed before the instance is. */
final class RocksView implements Table, AutoCloseable {
  private static final String NO_SUCH_FILE = "No such file or directory";

  private final RocksDB db;
  private final Snapshot snapshot;
  private final ReadOptions options;

  /**
   * @param tier with the block cache's tier, a read beyond it throws {@link NotCachedException}
   */
  RocksView(RocksDB db, ReadTier tier) {
    this.db = db;
    this.snapshot = db.getSnapshot();
    this.options = new ReadOptions().setSnapshot(snapshot).setReadTier(tier);
  }

  @Override
  public byte @Nullable [] get(byte[] key) {
    try {
      return db.get(options, key);
    } catch (RocksDBException e) {
      throw translated(e);
    }
  }

  static RuntimeException translated(RocksDBException e) {
    return translated("metadata tables", e);
  }

  /** Translates a failed read: a block that the drive cannot read is lost, too. */
  static RuntimeException translated(String what, RocksDBException e) {
    Status status = e.getStatus();
    String message = what + ": " + e.getMessage();
    return switch (status == null ? Status.Code.Undefined : status.getCode()) {
      case Incomplete -> new NotCachedException();
      case Corruption -> new DamagedTablesException(message, e, true);
      case IOError -> new DamagedTablesException(message, e, message.contains(NO_SUCH_FILE));
      default -> new TableFailureException(message, e);
    };
  }

  @Override
  public Cursor cursor(byte[] from, byte[] to) {
    return new RocksCursor(db, options, from, to);
  }

  @Override
  public void close() {
    options.close();
    db.releaseSnapshot(snapshot);
    snapshot.close();
  }

  static final class RocksCursor implements Cursor {
    private final byte[] to;
    private final Slice upperBound;
    private final ReadOptions options;
    private final RocksIterator iterator;
    private byte @Nullable [] key;

    RocksCursor(RocksDB db, ReadOptions base, byte[] from, byte[] to) {
      this.to = to;
      this.upperBound = new Slice(to);
      this.options = new ReadOptions(base).setIterateUpperBound(upperBound);
      this.iterator = db.newIterator(options);
      try {
        seek(from);
      } catch (RuntimeException e) {
        close();
        throw e;
      }
    }

    private void settle() {
      if (iterator.isValid()) {
        key = iterator.key();
        return;
      }
      key = null;
      try {
        iterator.status();
      } catch (RocksDBException e) {
        throw translated(e);
      }
    }

    @Override
    public boolean isValid() {
      return key != null;
    }

    @Override
    public byte[] key() {
      if (key == null) {
        throw new IllegalStateException("the cursor is beyond the last row");
      }
      return key;
    }

    @Override
    public byte[] value() {
      return iterator.value();
    }

    @Override
    public void next() {
      iterator.next();
      settle();
    }

    @Override
    public void seek(byte[] target) {
      if (Arrays.compareUnsigned(target, to) >= 0) {
        key = null; // RocksDB leaves a seek beyond the bound undefined
        return;
      }
      iterator.seek(target);
      settle();
    }

    @Override
    public void close() {
      iterator.close();
      options.close();
      upperBound.close();
    }
  }
}
