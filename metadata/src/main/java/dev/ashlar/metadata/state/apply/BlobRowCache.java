package dev.ashlar.metadata.state.apply;

import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.BlobRow;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Caches the parsed rows of recently changed blobs: a blob under change is read by each writer and
 * each command, and parsing a row with unfolded changes costs more than looking it up. An entry is
 * used only for exactly the same bytes, so it cannot be outdated. Thread-safe.
 */
public final class BlobRowCache {
  /** A power of two. Rows and messages together take 12 MiB at most. */
  private static final int ROWS_MAX = 512;

  /** The size of a row with the maximum of unfolded changes; larger rows are not cached. */
  private static final int ROW_BYTES_MAX = 4096;

  private final AtomicReferenceArray<@Nullable Written> rows = new AtomicReferenceArray<>(ROWS_MAX);

  private record Written(byte[] bytes, BlobRow row) {}

  /**
   * Caches a row, in the place of an earlier one.
   *
   * @param bytes as they are written; never changed
   */
  public void put(byte[] key, byte[] bytes, BlobRow row) {
    if (bytes.length <= ROW_BYTES_MAX) {
      rows.setRelease(place(key), new Written(bytes, row));
    }
  }

  /** The row in the table. */
  public Optional<BlobRow> get(Table table, byte[] key) {
    byte[] bytes = table.get(key);
    if (bytes == null) {
      return Optional.empty();
    }
    Written kept = rows.getAcquire(place(key));
    return Optional.of(
        kept != null && Arrays.equals(kept.bytes(), bytes)
            ? kept.row()
            : Table.parse(bytes, BlobRow.parser()));
  }

  private static int place(byte[] key) {
    int hash = Arrays.hashCode(key);
    return (hash ^ (hash >>> 16)) & (ROWS_MAX - 1);
  }
}
