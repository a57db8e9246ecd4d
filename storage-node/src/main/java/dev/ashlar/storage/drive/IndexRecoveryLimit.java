package dev.ashlar.storage.drive;

import dev.ashlar.storage.drive.index.IndexException;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** How often an index that fails is made anew: where it fails again and again, that is in vain. */
final class IndexRecoveryLimit {
  static final int MAX = 3;
  static final Duration PERIOD = Duration.ofHours(1);

  private final LongSupplier nanoTime;
  private int tried;

  /** Null while no index serves. */
  private @Nullable Long servedSince;

  /** When an index that could not be read was last opened again for that. */
  private @Nullable Long reopened;

  IndexRecoveryLimit(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** What a failure counts as: what opening it again has not helped against is damage. */
  synchronized IndexException.Kind judge(IndexException.Kind kind) {
    if (kind != IndexException.Kind.UNREADABLE) {
      return kind;
    }
    Long last = reopened;
    long now = nanoTime.getAsLong();
    if (last != null && now - last < PERIOD.toNanos()) {
      return IndexException.Kind.DAMAGED;
    }
    reopened = now;
    return kind;
  }

  /** An index serves from now on. */
  synchronized void serves() {
    servedSince = nanoTime.getAsLong();
  }

  /**
   * The index has failed. Counts another attempt; what was tried before is forgotten only if the
   * index has served for the period since, however long it took to make. What is waited for is
   * free.
   *
   * @return false if there were too many
   */
  synchronized boolean mayTry(IndexException.Kind kind) {
    Long since = servedSince;
    servedSince = null;
    if (since != null && nanoTime.getAsLong() - since >= PERIOD.toNanos()) {
      tried = 0;
    }
    if (kind.isWaitedFor()) {
      return true;
    }
    if (tried == MAX) {
      return false;
    }
    tried++;
    return true;
  }
}
