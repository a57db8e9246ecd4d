package dev.ashlar.bench.options;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** How often all is measured. */
public final class PassesOption {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec = CommandSpec.create();

  private int passes = 3;

  @Option(
      names = "--passes",
      paramLabel = "N",
      defaultValue = "3",
      description = "Each figure is of so many, and where they lie apart it is said (default: 3).")
  void setPasses(int passes) {
    if (passes < 1) {
      throw new ParameterException(spec.commandLine(), "--passes: at least one");
    }
    this.passes = passes;
  }

  public int passes() {
    return passes;
  }
}
