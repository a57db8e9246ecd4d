package dev.ashlar.bench;

import java.io.PrintStream;
import java.time.Duration;

/** Says on standard error how far a command is, and how long it still takes if it goes on so. */
public final class TimeLeft {
  private static final Duration PERIOD = Duration.ofSeconds(2);

  private final PrintStream out;
  private final int steps;
  private final long begin = System.nanoTime();
  private int done;
  private Duration told = Duration.ZERO;

  public TimeLeft(int steps) {
    this(steps, System.err);
  }

  TimeLeft(int steps, PrintStream out) {
    this.steps = steps;
    this.out = out;
  }

  /** A step is done; steps of a moment are not told one by one. */
  public void done(String what) {
    done++;
    Duration spent = Duration.ofNanos(System.nanoTime() - begin);
    if (spent.minus(told).compareTo(PERIOD) < 0 && done < steps) {
      return;
    }
    told = spent;
    Duration left = spent.multipliedBy(steps - done).dividedBy(done);
    out.printf(
        "[%d/%d, %s left] %s%n",
        done, steps, "%d:%02d".formatted(left.toMinutes(), left.toSecondsPart()), what);
  }
}
