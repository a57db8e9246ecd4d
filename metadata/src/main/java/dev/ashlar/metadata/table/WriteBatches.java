package dev.ashlar.metadata.table;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;

/**
 * Builds RocksDB's write batches in Java, so that a log entry costs one call into native code
 * instead of one per row. The layout is what RocksDB keeps in its logs and thus stable: sequence 8
 * (filled in by RocksDB) | count 4, little-endian; then per row a tag (0 delete, 1 put), the key
 * and, for a put, the value, each behind its length as a varint.
 */
final class WriteBatches {
  private static final int HEADER_BYTES = 12;
  private static final int TAG_AND_LENGTHS_MAX_BYTES = 11;

  private WriteBatches() {}

  static byte[] serialize(NavigableMap<byte[], Optional<byte[]>> changes) {
    int size = HEADER_BYTES;
    for (Map.Entry<byte[], Optional<byte[]>> change : changes.entrySet()) {
      int valueBytes = change.getValue().map(value -> value.length).orElse(0);
      size += TAG_AND_LENGTHS_MAX_BYTES + change.getKey().length + valueBytes;
    }
    ByteBuffer batch = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    batch.putLong(0).putInt(changes.size());
    changes.forEach(
        (key, value) -> {
          batch.put((byte) (value.isPresent() ? 1 : 0));
          putBytes(batch, key);
          value.ifPresent(bytes -> putBytes(batch, bytes));
        });
    byte[] bytes = new byte[batch.position()];
    batch.get(0, bytes);
    return bytes;
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
