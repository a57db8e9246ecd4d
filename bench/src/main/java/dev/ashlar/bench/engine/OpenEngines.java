package dev.ashlar.bench.engine;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The engines of this process. When it is interrupted, they are closed before their files are
 * removed under them: whoever works with one is stopped at the next operation, and closes it.
 */
final class OpenEngines {
  private static final Duration CLOSE_MAX = Duration.ofSeconds(30);

  private static final Set<CountDownLatch> OPEN = ConcurrentHashMap.newKeySet();
  private static volatile boolean isEnding;

  private OpenEngines() {}

  /**
   * One more is opened.
   *
   * @return counted down by {@link #closed}
   * @throws CancellationException when the process ends
   */
  static CountDownLatch opened() {
    CountDownLatch open = new CountDownLatch(1);
    OPEN.add(open);
    if (isEnding) {
      closed(open);
      checkGoingOn();
    }
    return open;
  }

  static void closed(CountDownLatch open) {
    OPEN.remove(open);
    open.countDown();
  }

  /**
   * Before each operation.
   *
   * @throws CancellationException when the process ends
   */
  static void checkGoingOn() {
    if (isEnding) {
      throw new CancellationException("interrupted");
    }
  }

  /** Nothing is begun any more; returns when all are closed, or after half a minute. */
  static void end() {
    isEnding = true;
    try {
      for (CountDownLatch open : OPEN) {
        if (!open.await(CLOSE_MAX.toSeconds(), TimeUnit.SECONDS)) {
          System.err.println("a store does not close");
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
