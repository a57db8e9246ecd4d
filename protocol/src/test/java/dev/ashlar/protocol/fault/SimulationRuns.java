package dev.ashlar.protocol.fault;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Seeded runs of a simulation. {@code -Dashlar.simulations.seconds=N} has each simulation run for
 * that long, whatever number of runs that is, and go on after runs that fail.
 */
public final class SimulationRuns {
  private static final String SECONDS = "ashlar.simulations.seconds";

  /** So many failures say enough. */
  private static final int FAILURES_MAX = 10;

  private SimulationRuns() {}

  /** One run, which follows from its seed. */
  @FunctionalInterface
  public interface Run {
    void of(long seed) throws Exception;
  }

  /**
   * Runs it from one seed after the other, so often as {@code -DPREFIX.runs} says, or once with
   * {@code -DPREFIX.seed}.
   *
   * @param name says in the output what is run
   * @return how many runs there were
   */
  public static int repeat(String name, String prefix, int usualRuns, Run run) {
    Long replayed = Long.getLong(prefix + ".seed");
    long seconds = Long.getLong(SECONDS, 0);
    boolean isTimed = replayed == null && seconds > 0;
    long first = replayed != null ? replayed : System.nanoTime();
    int runsMax = replayed != null ? 1 : Integer.getInteger(prefix + ".runs", usualRuns);
    List<AssertionError> failures = new ArrayList<>();
    long beganNanos = System.nanoTime();
    long endNanos = beganNanos + TimeUnit.SECONDS.toNanos(seconds);
    int runs = 0;
    System.out.println(name + ": from seed " + first);
    while (isTimed
        ? System.nanoTime() < endNanos && failures.size() < FAILURES_MAX
        : runs < runsMax && failures.isEmpty()) {
      runOnce(first + runs++, prefix, run, failures);
    }
    System.out.printf(
        "%s: %d runs, seeds %d to %d, %d failed, %d s%n",
        name,
        runs,
        first,
        first + runs - 1,
        failures.size(),
        TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - beganNanos));
    if (!failures.isEmpty()) {
      AssertionError failure = failures.removeFirst();
      failures.forEach(failure::addSuppressed);
      throw failure;
    }
    return runs;
  }

  private static void runOnce(long seed, String prefix, Run run, List<AssertionError> failures) {
    try {
      run.of(seed);
    } catch (Exception | AssertionError e) {
      String replay = "replay with -D" + prefix + ".seed=" + seed;
      System.out.println(replay);
      failures.add(new AssertionError(replay, e));
    }
  }
}
