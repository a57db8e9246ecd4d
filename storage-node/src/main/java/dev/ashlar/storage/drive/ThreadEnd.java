package dev.ashlar.storage.drive;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Waiting for a thread that was told to end. */
final class ThreadEnd {
  private ThreadEnd() {}

  /** Whether it ended in time; an interrupt waits until then. */
  static boolean await(Thread thread, Duration timeout) {
    boolean interrupted = false;
    long deadline = System.nanoTime() + timeout.toNanos();
    for (long left = timeout.toNanos();
        thread.isAlive() && left > 0;
        left = deadline - System.nanoTime()) {
      try {
        TimeUnit.NANOSECONDS.timedJoin(thread, left);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return !thread.isAlive();
  }
}
