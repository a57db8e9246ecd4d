package dev.ashlar.metadata.table;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The changes of a log entry: the new value per key, empty for a removed row. Immutable, so that
 * every peer of the process can write the same object.
 */
public final class Changes {
  private static final int HEADER_BYTES = 12;
  private static final int TAG_AND_LENGTHS_MAX_BYTES = 11;

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

  /**
   * The changes as a RocksDB batch; created once for all peers. It is built in Java, so that a log
   * entry costs one call into native code instead of one per row. The layout is what RocksDB keeps
   * in its logs and thus stable: sequence 8 (filled in by RocksDB) | count 4, little-endian; then
   * per row a tag (0 delete, 1 put), the key and, for a put, the value, each behind its length as a
   * varint.
   */
  byte[] batch() {
    byte[] made = batch;
    if (made == null) {
      made = serialize();
      batch = made;
    }
    return made;
  }

  private byte[] serialize() {
    int size = HEADER_BYTES;
    for (Map.Entry<byte[], Optional<byte[]>> row : rows.entrySet()) {
      int valueBytes = row.getValue().map(value -> value.length).orElse(0);
      size += TAG_AND_LENGTHS_MAX_BYTES + row.getKey().length + valueBytes;
    }
    ByteBuffer batch = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    batch.putLong(0).putInt(rows.size());
    rows.forEach(
        (key, value) -> {
          batch.put((byte) (value.isPresent() ? 1 : 0));
          putBytes(batch, key);
          value.ifPresent(bytes -> putBytes(batch, bytes));
        });
    byte[] exact = new byte[batch.position()];
    batch.get(0, exact);
    return exact;
  }

  private static void putBytes(ByteBuffer batch, byte[] bytes) {
    int length = bytes.length;
    while (length >= 0x80) {
      batch.put((byte) (length | 0x80));
      length >>>= 7;
    }
    batch.put((byte) length).put(bytes);
  }
}
