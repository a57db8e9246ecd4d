package dev.ashlar.bench;

import java.io.PrintStream;
import java.time.Duration;

/** Says on standard error how far a command is, and how long it still takes if it goes on so. */
public final class TimeLeft {
  private final PrintStream out;
  private final int steps;
  private final long begin = System.nanoTime();
  private int done;

  public TimeLeft(int steps) {
    this(steps, System.err);
  }

  TimeLeft(int steps, PrintStream out) {
    this.steps = steps;
    this.out = out;
  }

  /** A step is done. */
  public void done(String what) {
    done++;
    Duration spent = Duration.ofNanos(System.nanoTime() - begin);
    Duration left = spent.multipliedBy(steps - done).dividedBy(done);
    out.printf(
        "[%d/%d, %s left] %s%n",
        done, steps, "%d:%02d".formatted(left.toMinutes(), left.toSecondsPart()), what);
  }
}
