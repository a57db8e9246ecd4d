package dev.ashlar.metadata.table;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The rows that were written last, as they are in the tables. Applying a log entry reads mostly
 * rows that one of the entries before it has written: found here, they need no call into RocksDB.
 * Used by the one thread that applies.
 */
final class RecentRows {
  /** A power of two. With the largest rows they take 8 MiB. */
  private static final int ROWS_MAX = 2048;

  /** The size of a blob's row with the maximum of unfolded changes; larger rows are not kept. */
  private static final int ROW_BYTES_MAX = 4096;

  private final @Nullable Row[] rows = new Row[ROWS_MAX];

  /**
   * A row as it was written.
   *
   * @param value null: it was deleted
   */
  record Row(byte[] key, byte @Nullable [] value) {}

  /** Null: the row was not written lately. */
  @Nullable Row find(byte[] key) {
    Row row = rows[place(key)];
    return row != null && Arrays.equals(row.key(), key) ? row : null;
  }

  /**
   * To be called after the row was written. The arrays must not change any more.
   *
   * @param value null: it was deleted
   */
  void add(byte[] key, byte @Nullable [] value) {
    boolean isKept = value == null || value.length <= ROW_BYTES_MAX;
    rows[place(key)] = isKept ? new Row(key, value) : null;
  }

  private static int place(byte[] key) {
    int hash = Arrays.hashCode(key);
    return (hash ^ (hash >>> 16)) & (ROWS_MAX - 1);
  }
}
