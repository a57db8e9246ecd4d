package dev.ashlar.bench.options;

import picocli.CommandLine.Option;

/** How often all is measured. */
public final class PassesOption {
  @Option(
      names = "--passes",
      paramLabel = "N",
      converter = CountArgument.class,
      defaultValue = "3",
      description = "Each figure is of so many, and where they lie apart it is said (default: 3).")
  private int passes = 3;

  public int passes() {
    return passes;
  }
}
