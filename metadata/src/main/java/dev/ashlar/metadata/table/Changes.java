package dev.ashlar.metadata.table;

import java.util.NavigableMap;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The changes of a log entry: the new value per key, empty for a removed row. Immutable, so that
 * every peer of the process can write the same object.
 */
public final class Changes {
  private final NavigableMap<byte[], Optional<byte[]>> rows;
  private volatile byte @Nullable [] batch;

  public Changes(NavigableMap<byte[], Optional<byte[]>> rows) {
    this.rows = rows;
  }

  public NavigableMap<byte[], Optional<byte[]>> rows() {
    return rows;
  }

  /** Visits the changed rows of one table. */
  public void forEach(char table, BiConsumer<byte[], Optional<byte[]>> visitor) {
    byte[] from = Keys.table(table);
    rows.subMap(from, Keys.behind(from)).forEach(visitor);
  }

  /** The changes as a RocksDB batch; created once for all peers. */
  byte[] batch() {
    byte[] made = batch;
    if (made == null) {
      made = WriteBatches.serialize(rows);
      batch = made;
    }
    return made;
  }
}
