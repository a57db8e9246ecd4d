package dev.ashlar.bench.options;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How long is measured; what a command takes by itself stands in its description. */
public final class TimeOptions {
  @Option(
      names = "--seconds",
      paramLabel = "SECONDS",
      converter = SecondsArgument.Positive.class,
      description = "Measured seconds of each pass.")
  private @Nullable Double seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      converter = SecondsArgument.class,
      description = "Seconds of the same work before each pass, not measured.")
  private @Nullable Double warmUpSeconds;

  public double seconds(double preset) {
    return seconds == null ? preset : seconds;
  }

  public double warmUpSeconds(double preset) {
    return warmUpSeconds == null ? preset : warmUpSeconds;
  }
}
