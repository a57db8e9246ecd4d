package dev.ashlar.bench;

import dev.ashlar.bench.capacity.CapacityCommand;
import dev.ashlar.bench.codec.CodecCommand;
import dev.ashlar.bench.curves.CurvesCommand;
import dev.ashlar.bench.engine.ChangingCommand;
import dev.ashlar.bench.engine.IoCostCommand;
import dev.ashlar.bench.load.LoadCommand;
import dev.ashlar.bench.soak.SoakCommand;
import dev.ashlar.bench.versus.VersusCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code java -cp … dev.ashlar.bench.Bench}: every figure we publish comes from one of these. */
@Command(
    name = "bench",
    description = "Measures Ashlar.",
    mixinStandardHelpOptions = true,
    subcommands = {
      CapacityCommand.class,
      ChangingCommand.class,
      CodecCommand.class,
      CurvesCommand.class,
      IoCostCommand.class,
      LoadCommand.class,
      SoakCommand.class,
      VersusCommand.class
    })
public final class Bench {
  private Bench() {}

  public static void main(String[] args) {
    // Not named as logback looks for it by itself: the server's must be the only one of these.
    System.setProperty("logback.configurationFile", "logback-bench.xml");
    System.setProperty("java.awt.headless", "true");
    System.exit(commandLine().execute(args));
  }

  /** What {@link #main} runs: says before anything else how long it will take. */
  static CommandLine commandLine() {
    return new CommandLine(new Bench())
        .setExecutionStrategy(
            parsed -> {
              CommandLine last = parsed.asCommandLineList().getLast();
              if (last.getCommand() instanceof Planned planned && !last.isUsageHelpRequested()) {
                System.err.println(
                    "About " + planned.plan() + " minutes, on a machine of its own.");
              }
              return new CommandLine.RunLast().execute(parsed);
            });
  }
}
