package dev.ashlar.it.harness;

import java.time.Duration;

/** Waits for a state by looking at it again and again; that it does not come is a failure. */
public final class Await {
  /** Much longer than it takes on a busy machine. */
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  private static final Duration PAUSE = Duration.ofMillis(100);

  private Await() {}

  /** The state that is waited for. */
  @FunctionalInterface
  public interface Condition {
    boolean isMet() throws Exception;
  }

  /** Waits until this is so, for two minutes at most. */
  public static void until(String what, Condition condition) throws Exception {
    until(what, DEADLINE, condition);
  }

  /**
   * Waits until this is so.
   *
   * @param what the state, for the report of a failure
   */
  public static void until(String what, Duration deadline, Condition condition) throws Exception {
    long begin = System.nanoTime();
    while (!condition.isMet()) {
      if (System.nanoTime() - begin > deadline.toNanos()) {
        throw new AssertionError("not after " + deadline + ": " + what);
      }
      ServerProcess.pause(PAUSE);
    }
  }
}
