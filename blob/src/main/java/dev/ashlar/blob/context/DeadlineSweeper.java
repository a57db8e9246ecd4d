package dev.ashlar.blob.context;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The answers of drives that threads wait for, so that one thread that looks around now and then
 * can wake those who have waited long enough. A thread could also wait with a deadline of its own:
 * but each such wait goes through the JDK's one timer thread, twice, for a drive that answers in
 * time, too.
 */
public final class DeadlineSweeper {
  // Four times the requests that a server lets in; who finds no place here is not told.
  private static final int PLACES = 4096;
  private static final int TRIES = 8;
  public static final int NO_PLACE = -1;

  private final AtomicReferenceArray<@Nullable Wait> places = new AtomicReferenceArray<>(PLACES);
  private volatile boolean isUsed;

  /** Somebody who waits. */
  public interface Wait {
    /** Wakes the thread if it has waited long enough. For any thread. */
    void wakeIfDue();

    /** Has it look again for itself. For any thread. */
    void wake();
  }

  /** Where it has to be taken away, or {@link #NO_PLACE}. */
  public int add(Wait wait) {
    if (!isUsed) {
      isUsed = true;
    }
    int first = (int) Thread.currentThread().threadId();
    for (int i = 0; i < TRIES; i++) {
      int place = (first + i) & (PLACES - 1);
      if (places.get(place) == null && places.compareAndSet(place, null, wait)) {
        return place;
      }
    }
    return NO_PLACE;
  }

  public void remove(int place) {
    if (place != NO_PLACE) {
      places.set(place, null);
    }
  }

  /** Wakes those who have waited long enough; whether anybody has waited since last time. */
  boolean wakeDue() {
    boolean wasUsed = isUsed;
    isUsed = false;
    for (int i = 0; i < PLACES; i++) {
      Wait wait = places.get(i);
      if (wait != null) {
        isUsed = true;
        wait.wakeIfDue();
      }
    }
    return wasUsed;
  }

  void wakeAll() {
    for (int i = 0; i < PLACES; i++) {
      Wait wait = places.get(i);
      if (wait != null) {
        wait.wake();
      }
    }
  }

  /** How many wait. */
  public int size() {
    int count = 0;
    for (int i = 0; i < PLACES; i++) {
      count += places.get(i) == null ? 0 : 1;
    }
    return count;
  }
}
