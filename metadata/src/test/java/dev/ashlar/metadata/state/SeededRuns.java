package dev.ashlar.metadata.state;

import java.util.Random;

/** Repeats a randomised test with seeds that a failure names. */
public final class SeededRuns {
  private static final String SEED = "ashlar.metadata.seed";

  public interface Run {
    void run(long seed) throws Exception;
  }

  private SeededRuns() {}

  /**
   * So often as {@code -Dashlar.metadata.runs} says, or once with {@code -Dashlar.metadata.seed}.
   *
   * @return whether it was the usual number of runs or what was asked for, not a replay
   */
  public static boolean repeat(int usualRuns, Run run) {
    Long replayed = Long.getLong(SEED);
    int runs = replayed != null ? 1 : Integer.getInteger("ashlar.metadata.runs", usualRuns);
    for (int i = 0; i < runs; i++) {
      long seed = replayed != null ? replayed : new Random().nextLong();
      try {
        run.run(seed);
      } catch (AssertionError | Exception e) {
        throw new AssertionError("replay with -D" + SEED + "=" + seed, e);
      }
    }
    return replayed == null;
  }
}
