package dev.ashlar.bench.options;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A quick look or what is to be quoted, and the times of either. */
public final class FormOptions {
  @Option(names = "--full", description = "Longer passes and warm-up, for figures to quote.")
  private boolean isFull;

  @Mixin private TimeOptions times = new TimeOptions();

  public boolean isFull() {
    return isFull;
  }

  public double seconds(double quick, double full) {
    return times.seconds(isFull ? full : quick);
  }

  public double warmUpSeconds(double quick, double full) {
    return times.warmUpSeconds(isFull ? full : quick);
  }
}
