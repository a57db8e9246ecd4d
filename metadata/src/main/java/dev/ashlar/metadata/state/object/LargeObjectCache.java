package dev.ashlar.metadata.state.object;

import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectRow;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Caches recently read objects with many slices and parts: assembling one takes milliseconds, too
 * long for a small range read. What can change of a version without a new one is left out.
 */
public final class LargeObjectCache {
  /** Slices and parts together: about 8 MiB at 130 bytes each. */
  private static final int ITEMS_MAX = 64_000;

  private final ReentrantLock lock = new ReentrantLock();

  /** By the position in the log at which the version got its slices. */
  private final Map<Long, ObjectRecord> bySlices = new LinkedHashMap<>(16, 0.75f, true);

  private int items;

  /** The object that was kept of the version with this row and its present slices. */
  public @Nullable ObjectRecord get(ObjectRow row) {
    lock.lock();
    try {
      return bySlices.get(slicedAt(row.getVersion(), row.getMoved()));
    } finally {
      lock.unlock();
    }
  }

  /** Positions are unique: a command either makes a version or moves one. */
  private static long slicedAt(long version, long moved) {
    return moved != 0 ? moved : version;
  }

  public void put(ObjectRecord object) {
    long position = slicedAt(object.getVersion(), object.getMoved());
    lock.lock();
    try {
      if (items(object) > ITEMS_MAX || bySlices.containsKey(position)) {
        return;
      }
      bySlices.put(position, object);
      items += items(object);
      for (Iterator<ObjectRecord> oldest = bySlices.values().iterator(); items > ITEMS_MAX; ) {
        items -= items(oldest.next());
        oldest.remove();
      }
    } finally {
      lock.unlock();
    }
  }

  private static int items(ObjectRecord object) {
    return object.getSlicesCount() + object.getPartsCount();
  }
}
