package dev.ashlar.metadata.memory;

import dev.ashlar.metadata.table.Changes;
import dev.ashlar.metadata.table.Store;
import java.util.Arrays;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/** Rows in a sorted map. */
public final class MemoryTable implements Store {
  private final ConcurrentSkipListMap<byte[], byte[]> rows =
      new ConcurrentSkipListMap<>(Arrays::compareUnsigned);

  public NavigableMap<byte[], byte[]> rows() {
    return rows;
  }

  @Override
  public byte @Nullable [] get(byte[] key) {
    return rows.get(key);
  }

  @Override
  public void write(Changes changes) {
    changes
        .rows()
        .forEach(
            (key, value) -> {
              if (value.isPresent()) {
                rows.put(key, value.get());
              } else {
                rows.remove(key);
              }
            });
  }

  @Override
  public Cursor cursor(byte[] from, byte[] to) {
    return new MapCursor(from, to);
  }

  private final class MapCursor implements Cursor {
    private final byte[] to;
    private Map.@Nullable Entry<byte[], byte[]> entry;

    MapCursor(byte[] from, byte[] to) {
      this.to = to;
      this.entry = bounded(rows.ceilingEntry(from));
    }

    private Map.@Nullable Entry<byte[], byte[]> bounded(
        Map.@Nullable Entry<byte[], byte[]> candidate) {
      return candidate == null || Arrays.compareUnsigned(candidate.getKey(), to) >= 0
          ? null
          : candidate;
    }

    private Map.Entry<byte[], byte[]> current() {
      if (entry == null) {
        throw new IllegalStateException("beyond the last row");
      }
      return entry;
    }

    @Override
    public boolean isValid() {
      return entry != null;
    }

    @Override
    public byte[] key() {
      return current().getKey();
    }

    @Override
    public byte[] value() {
      return current().getValue();
    }

    @Override
    public void next() {
      entry = bounded(rows.higherEntry(current().getKey()));
    }

    @Override
    public void seek(byte[] key) {
      entry = bounded(rows.ceilingEntry(key));
    }

    @Override
    public void close() {}
  }
}
