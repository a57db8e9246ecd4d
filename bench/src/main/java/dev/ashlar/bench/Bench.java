package dev.ashlar.bench;

import dev.ashlar.bench.capacity.CapacityCommand;
import dev.ashlar.bench.codec.CodecCommand;
import dev.ashlar.bench.curves.CurvesCommand;
import dev.ashlar.bench.engine.ChangingCommand;
import dev.ashlar.bench.engine.IoCostCommand;
import dev.ashlar.bench.load.LoadCommand;
import dev.ashlar.bench.soak.SoakCommand;
import dev.ashlar.bench.versus.VersusCommand;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
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
  /** What shells say of a process that SIGINT has ended. */
  private static final int INTERRUPTED = 130;

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
                System.err.printf(
                    "Takes about %s on a machine of its own.%n", planned.plan().inWords());
              }
              return new CommandLine.RunLast().execute(parsed);
            })
        .setExecutionExceptionHandler(
            (failure, command, parsed) -> {
              if (isInterruption(failure)) {
                System.err.println("Interrupted.");
                return INTERRUPTED;
              }
              throw failure;
            });
  }

  private static boolean isInterruption(@Nullable Throwable failure) {
    return failure != null
        && (failure instanceof CancellationException || isInterruption(failure.getCause()));
  }
}
