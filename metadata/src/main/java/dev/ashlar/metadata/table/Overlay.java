package dev.ashlar.metadata.table;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A table with changes that nobody else sees yet: the commands of one log entry at work. */
public final class Overlay implements Table {
  private final Table base;
  private final TreeMap<byte[], Optional<byte[]>> changes = new TreeMap<>(Arrays::compareUnsigned);

  /** Rows of the base that the watcher watches, as they were read. */
  private final TreeMap<byte[], Optional<byte[]>> read = new TreeMap<>(Arrays::compareUnsigned);

  private @Nullable Watcher watcher;
  private long writes;

  /** Is told of changes as they are made. */
  public interface Watcher {
    boolean watches(byte[] key);

    /**
     * A row that it watches changes.
     *
     * @param before null: the row did not exist
     * @param after null: the row is deleted
     */
    void changed(byte[] key, byte @Nullable [] before, byte @Nullable [] after);
  }

  public Overlay(Table base) {
    this.base = base;
  }

  public void watch(Watcher newWatcher) {
    watcher = newWatcher;
  }

  public void put(byte[] key, byte[] value) {
    tell(key, value);
    writes++;
    changes.put(key, Optional.of(value));
  }

  public void delete(byte[] key) {
    tell(key, null);
    writes++;
    changes.put(key, Optional.empty());
  }

  private void tell(byte[] key, byte @Nullable [] after) {
    if (watcher != null && watcher.watches(key)) {
      watcher.changed(key, get(key), after);
    }
  }

  /** How often anything was put or deleted. */
  public long writes() {
    return writes;
  }

  /** To be asked for at the end. */
  public Changes changes() {
    return new Changes(changes);
  }

  @Override
  public byte @Nullable [] get(byte[] key) {
    Optional<byte[]> change = changes.get(key);
    if (change == null) {
      change =
          watcher != null && watcher.watches(key)
              ? read.computeIfAbsent(key, missing -> Optional.ofNullable(base.get(missing)))
              : Optional.ofNullable(base.get(key));
    }
    return change.orElse(null);
  }

  @Override
  public Cursor cursor(byte[] from, byte[] to) {
    return new MergingCursor(base.cursor(from, to), from, to);
  }

  /** Both in order; where they meet, the change wins. Sees changes made after it was opened. */
  private final class MergingCursor implements Cursor {
    private final Cursor below;
    private final byte[] to;
    private byte @Nullable [] key;
    private byte @Nullable [] value;

    MergingCursor(Cursor below, byte[] from, byte[] to) {
      this.below = below;
      this.to = to;
      settle(changes.ceilingEntry(from));
    }

    private void settle(Map.@Nullable Entry<byte[], Optional<byte[]>> above) {
      while (true) {
        byte[] upper =
            above != null && Arrays.compareUnsigned(above.getKey(), to) < 0 ? above.getKey() : null;
        byte[] lower = below.isValid() ? below.key() : null;
        if (upper == null || (lower != null && Arrays.compareUnsigned(lower, upper) < 0)) {
          key = lower;
          value = lower == null ? null : below.value();
          return;
        }
        Optional<byte[]> change = above == null ? Optional.empty() : above.getValue();
        if (change.isPresent()) {
          key = upper;
          value = change.get();
          return;
        }
        if (lower != null && Arrays.equals(lower, upper)) {
          below.next();
        }
        above = changes.higherEntry(upper);
      }
    }

    @Override
    public boolean isValid() {
      return key != null;
    }

    @Override
    public byte[] key() {
      return checked(key);
    }

    @Override
    public byte[] value() {
      return checked(value);
    }

    @Override
    public void next() {
      byte[] left = checked(key);
      if (below.isValid() && Arrays.equals(below.key(), left)) {
        below.next();
      }
      settle(changes.higherEntry(left));
    }

    @Override
    public void seek(byte[] target) {
      below.seek(target);
      settle(changes.ceilingEntry(target));
    }

    @Override
    public void close() {
      below.close();
    }

    private static byte[] checked(byte @Nullable [] bytes) {
      if (bytes == null) {
        throw new IllegalStateException("the cursor is beyond the last row");
      }
      return bytes;
    }
  }
}
