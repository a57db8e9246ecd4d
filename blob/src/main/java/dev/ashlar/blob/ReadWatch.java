package dev.ashlar.blob;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The reads that threads wait for, so that one thread that looks around now and then can tell them
 * which are late. A thread could also wait with a deadline of its own: but each wait that ends
 * before all other timers would wake the JDK's timer thread, for a drive that answers in time, too.
 */
final class ReadWatch {
  // Twice the requests that a server lets in; who finds no place here is not told.
  private static final int PLACES = 2048;
  private static final int TRIES = 8;
  static final int NO_PLACE = -1;

  private final AtomicReferenceArray<@Nullable ShardRead> places =
      new AtomicReferenceArray<>(PLACES);
  private volatile boolean isUsed;

  /** Where it has to be taken away, or {@link #NO_PLACE}. */
  int add(ShardRead read) {
    if (!isUsed) {
      isUsed = true;
    }
    int first = (int) Thread.currentThread().threadId();
    for (int i = 0; i < TRIES; i++) {
      int place = (first + i) & (PLACES - 1);
      if (places.get(place) == null && places.compareAndSet(place, null, read)) {
        return place;
      }
    }
    return NO_PLACE;
  }

  void remove(int place) {
    if (place != NO_PLACE) {
      places.set(place, null);
    }
  }

  /** Wakes those who wait for reads that are late; whether any was waited for since last time. */
  boolean wakeLate(long nowNanos) {
    boolean wasUsed = isUsed;
    isUsed = false;
    for (int i = 0; i < PLACES; i++) {
      ShardRead read = places.get(i);
      if (read != null) {
        isUsed = true;
        read.wakeIfLate(nowNanos);
      }
    }
    return wasUsed;
  }

  /** Reads that are waited for. */
  int size() {
    int count = 0;
    for (int i = 0; i < PLACES; i++) {
      count += places.get(i) == null ? 0 : 1;
    }
    return count;
  }
}
