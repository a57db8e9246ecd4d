package dev.ashlar.storage.drive;

import dev.ashlar.storage.drive.index.IndexException;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Limits how often a failing index is recovered: after repeated failures another attempt is
 * useless.
 */
final class IndexRecoveryLimit {
  static final int MAX = 3;
  static final Duration PERIOD = Duration.ofHours(1);

  private final LongSupplier nanoTime;
  private int tried;

  /** Null while there is no working index. */
  private @Nullable Long servedSince;

  /** When an unreadable index was last reopened. */
  private @Nullable Long reopened;

  IndexRecoveryLimit(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Classifies a failure: an index that is still unreadable after reopening is damaged. */
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

  synchronized void serves() {
    servedSince = nanoTime.getAsLong();
  }

  /**
   * Counts another attempt. Earlier attempts are forgotten if the index has worked for the whole
   * period since, however long the rebuild took. Waiting for a temporary condition does not count.
   *
   * @return false if the limit is reached
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
