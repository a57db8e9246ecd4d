package dev.ashlar.storage.drive.log;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Waits for a thread that was told to end. */
public final class ThreadJoin {
  private ThreadJoin() {}

  /** Whether the thread ended in time; an interrupt is kept for the caller. */
  public static boolean await(Thread thread, Duration timeout) {
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
