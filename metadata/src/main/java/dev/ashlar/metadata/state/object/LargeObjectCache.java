package dev.ashlar.metadata.state.object;

import dev.ashlar.protocol.message.ObjectRecord;
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
  private final Map<Long, ObjectRecord> byVersion = new LinkedHashMap<>(16, 0.75f, true);
  private int items;

  public @Nullable ObjectRecord get(long version) {
    lock.lock();
    try {
      return byVersion.get(version);
    } finally {
      lock.unlock();
    }
  }

  public void put(ObjectRecord object) {
    lock.lock();
    try {
      if (items(object) > ITEMS_MAX || byVersion.containsKey(object.getVersion())) {
        return;
      }
      byVersion.put(object.getVersion(), object);
      items += items(object);
      for (Iterator<ObjectRecord> oldest = byVersion.values().iterator(); items > ITEMS_MAX; ) {
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
