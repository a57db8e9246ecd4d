package dev.ashlar.metadata.state.object;

import dev.ashlar.protocol.message.ObjectRecord;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Objects of many slices and parts that were read lately: putting one together takes milliseconds,
 * which a small range of it is not worth. A version never changes, so what is kept is right.
 */
public final class LargeObjectCache {
  /** Slices and parts together; at about 130 bytes each some 8 MiB. */
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
