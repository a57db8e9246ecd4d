package dev.ashlar.bench.options;

import picocli.CommandLine.Option;

/** What makes two runs ask for the same. */
public final class SeedOption {
  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Seed of the order of operations, keys and offsets (default: 1).")
  private long seed = 1;

  public long seed() {
    return seed;
  }
}
