package dev.ashlar.metadata.state.apply;

import dev.ashlar.metadata.table.Rows;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.BlobRow;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Rows of blobs that were changed lately, as messages: a blob that is changed again and again is
 * read by each writer and by each command, and parsing a row with unfolded changes costs more than
 * looking it up. A row counts only for exactly its bytes, so nothing here can be out of date. For
 * any thread.
 */
public final class BlobRowCache {
  /** Two to some power. Rows and messages together take some MiB, 12 at most. */
  private static final int ROWS_MAX = 512;

  /** Of a row with all the unfolded changes that it may have; larger ones are parsed. */
  private static final int ROW_BYTES_MAX = 4096;

  private final AtomicReferenceArray<@Nullable Written> rows = new AtomicReferenceArray<>(ROWS_MAX);

  private record Written(byte[] bytes, BlobRow row) {}

  /**
   * Keeps a row in the place of an earlier one.
   *
   * @param bytes as they are written; never changed
   */
  public void put(byte[] key, byte[] bytes, BlobRow row) {
    if (bytes.length <= ROW_BYTES_MAX) {
      rows.setRelease(place(key), new Written(bytes, row));
    }
  }

  /** The row that the table has. */
  public Optional<BlobRow> get(Table table, byte[] key) {
    byte[] bytes = table.get(key);
    if (bytes == null) {
      return Optional.empty();
    }
    Written kept = rows.getAcquire(place(key));
    return Optional.of(
        kept != null && Arrays.equals(kept.bytes(), bytes)
            ? kept.row()
            : Rows.parse(bytes, BlobRow.parser()));
  }

  private static int place(byte[] key) {
    int hash = Arrays.hashCode(key);
    return (hash ^ (hash >>> 16)) & (ROWS_MAX - 1);
  }
}
