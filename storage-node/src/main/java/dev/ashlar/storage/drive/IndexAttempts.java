package dev.ashlar.storage.drive;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.function.LongSupplier;

/** How often an index that fails is made anew: where it fails again and again, that is in vain. */
final class IndexAttempts {
  static final int MAX = 3;
  static final Duration PERIOD = Duration.ofHours(1);

  private final LongSupplier nanoTime;
  private final ArrayDeque<Long> tried = new ArrayDeque<>();

  IndexAttempts(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Counts another attempt; false if there were too many lately. What is waited for is free. */
  synchronized boolean mayTry(IndexException.Kind kind) {
    if (kind.isWaitedFor()) {
      return true;
    }
    long now = nanoTime.getAsLong();
    while (!tried.isEmpty() && now - tried.getFirst() > PERIOD.toNanos()) {
      tried.removeFirst();
    }
    if (tried.size() >= MAX) {
      return false;
    }
    tried.add(now);
    return true;
  }
}
