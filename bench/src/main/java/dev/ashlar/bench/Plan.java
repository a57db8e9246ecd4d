package dev.ashlar.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

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

  /** A command that knows before it begins how long it will take. */
  public interface Planned {
    Plan plan();
  }

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

  /** As it is said: {@code 34 seconds}, {@code 1 minute 5 seconds}, {@code 3 minutes}. */
  public String inWords() {
    Duration total = total();
    List<String> words = new ArrayList<>();
    count(total.toMinutes(), "minute", words);
    count(total.toSecondsPart(), "second", words);
    return String.join(" ", words);
  }

  private static void count(long number, String unit, List<String> words) {
    if (number > 0) {
      words.add(number + " " + unit + (number == 1 ? "" : "s"));
    }
  }

  /** Minutes and seconds: {@code 0:34}. */
  @Override
  public String toString() {
    Duration total = total();
    return "%d:%02d".formatted(total.toMinutes(), total.toSecondsPart());
  }
}
