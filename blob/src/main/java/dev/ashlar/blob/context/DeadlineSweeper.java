package dev.ashlar.blob.context;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A table of the waits for drives, so that one thread can sweep it and wake threads whose deadline
 * has passed. Timed waits would do the same, but each of them passes twice through the JDK's single
 * timer thread, even if the drive answers in time.
 */
public final class DeadlineSweeper {
  // Four times the requests that a server admits. A wait without a place uses a timed wait.
  private static final int PLACES = 4096;
  private static final int TRIES = 8;
  public static final int NO_PLACE = -1;

  private final AtomicReferenceArray<@Nullable Wait> places = new AtomicReferenceArray<>(PLACES);
  private volatile boolean isUsed;

  /** A thread that waits for a drive. */
  public interface Wait {
    /** Wakes the thread if its deadline has passed. For any thread. */
    void wakeIfDue();

    /** Wakes the thread, which checks for itself. For any thread. */
    void wake();
  }

  /** Returns the place to {@link #remove}, or {@link #NO_PLACE} if none is free. */
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

  /** Wakes overdue threads; returns whether any thread has waited since the last sweep. */
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

  public int size() {
    int count = 0;
    for (int i = 0; i < PLACES; i++) {
      count += places.get(i) == null ? 0 : 1;
    }
    return count;
  }
}
