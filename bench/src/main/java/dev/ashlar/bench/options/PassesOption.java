package dev.ashlar.bench.options;

import picocli.CommandLine.Option;

/** How often all is measured. */
public final class PassesOption {
  @Option(
      names = "--passes",
      paramLabel = "N",
      converter = CountArgument.class,
      defaultValue = "3",
      description = "Number of passes per figure; a large spread is reported (default: 3).")
  private int passes = 3;

  public int passes() {
    return passes;
  }
}
