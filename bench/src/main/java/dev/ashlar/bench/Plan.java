package dev.ashlar.bench;

import java.time.Duration;

/**
 * How long a command takes on two processors that do nothing else, by adding up what it is going to
 * do. The costs of what is not measured are as they were seen on such a machine.
 */
public final class Plan {
  /** The launcher, which finds that nothing is to be built, and our own start. */
  private static final double BEGIN_SECONDS = 4;

  /** Starting a server and stopping it. */
  private static final double SERVER_SECONDS = 6;

  private double seconds = BEGIN_SECONDS;

  public Plan servers(int count) {
    return add(count, SERVER_SECONDS);
  }

  public Plan add(double times, double secondsEach) {
    seconds += times * secondsEach;
    return this;
  }

  public Duration total() {
    return Duration.ofSeconds(Math.round(seconds));
  }

  /** Minutes and seconds. */
  @Override
  public String toString() {
    Duration total = total();
    return "%d:%02d".formatted(total.toMinutes(), total.toSecondsPart());
  }
}
