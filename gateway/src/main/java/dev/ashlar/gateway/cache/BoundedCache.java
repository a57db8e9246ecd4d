package dev.ashlar.gateway.cache;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Keeps values up to a number of entries and of bytes. Once one of both is reached, the next value
 * makes it forget the others: it is for what is read again at little cost.
 */
public final class BoundedCache<K, V> {
  private final int entriesMax;
  private final long bytesMax;
  private volatile Entries<K, V> entries = new Entries<>();

  private record Entry<V>(V value, long bytes) {}

  private static final class Entries<K, V> {
    private final ConcurrentHashMap<K, Entry<V>> byKey = new ConcurrentHashMap<>();
    private final AtomicLong bytes = new AtomicLong();
  }

  public BoundedCache(int entriesMax, long bytesMax) {
    this.entriesMax = entriesMax;
    this.bytesMax = bytesMax;
  }

  public @Nullable V get(K key) {
    Entry<V> entry = entries.byKey.get(key);
    return entry == null ? null : entry.value;
  }

  /**
   * @param bytes that the value counts for
   */
  public void put(K key, V value, long bytes) {
    Entries<K, V> now = entries;
    if (now.byKey.size() >= entriesMax || now.bytes.get() >= bytesMax) {
      now = new Entries<>();
      entries = now;
    }
    Entry<V> replaced = now.byKey.put(key, new Entry<>(value, bytes));
    now.bytes.addAndGet(replaced == null ? bytes : bytes - replaced.bytes);
  }

  public void remove(K key) {
    Entries<K, V> now = entries;
    Entry<V> removed = now.byKey.remove(key);
    if (removed != null) {
      now.bytes.addAndGet(-removed.bytes);
    }
  }
}
