package dev.ashlar.gateway.access.policy;

import java.util.Random;

/** Repeats a randomised test with seeds that a failure names. */
public final class SeededRuns {
  private static final String SEED = "ashlar.policy.seed";

  /** What is repeated. */
  public interface Run {
    void run(Random random) throws Exception;
  }

  private SeededRuns() {}

  /** So often as {@code -Dashlar.policy.runs} says, or once with {@code -Dashlar.policy.seed}. */
  public static void repeat(int usualRuns, Run run) {
    Long replayed = Long.getLong(SEED);
    int runs = replayed != null ? 1 : Integer.getInteger("ashlar.policy.runs", usualRuns);
    for (int i = 0; i < runs; i++) {
      long seed = replayed != null ? replayed : new Random().nextLong();
      try {
        run.run(new Random(seed));
      } catch (Throwable e) {
        throw new AssertionError("replay with -D" + SEED + "=" + seed, e);
      }
    }
  }
}
