package dev.ashlar.bench;

import dev.ashlar.bench.capacity.CapacityCommand;
import dev.ashlar.bench.codec.CodecCommand;
import dev.ashlar.bench.curves.CurvesCommand;
import dev.ashlar.bench.engine.IoCostCommand;
import dev.ashlar.bench.load.LoadCommand;
import dev.ashlar.bench.process.BenchException;
import dev.ashlar.bench.soak.SoakCommand;
import dev.ashlar.bench.versus.VersusCommand;
import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExecutionException;

/** {@code java -cp … dev.ashlar.bench.Bench}: every figure we publish comes from one of these. */
@Command(
    name = "bench",
    description = "Measures Ashlar.",
    mixinStandardHelpOptions = true,
    subcommands = {
      CapacityCommand.class,
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
              if (last.getCommand() instanceof Plan.Planned planned
                  && !last.isUsageHelpRequested()) {
                System.err.printf(
                    "Takes about %s on a machine of its own.%n", plan(planned, last).inWords());
              }
              return new CommandLine.RunLast().execute(parsed);
            })
        .setExecutionExceptionHandler((failure, command, parsed) -> failed(failure));
  }

  private static Plan plan(Plan.Planned planned, CommandLine command) {
    try {
      return planned.plan();
    } catch (BenchException e) {
      throw new ExecutionException(command, "what is asked for cannot be measured", e);
    }
  }

  /** What the person at the terminal can do something about is said in a line; the rest is ours. */
  private static int failed(Exception failure) throws Exception {
    if (isInterruption(failure)) {
      System.err.println("Interrupted.");
      return INTERRUPTED;
    }
    System.err.println(
        switch (reason(failure)) {
          case BenchException told -> told.getMessage();
          case AccessDeniedException denied -> denied.getFile() + ": permission denied";
          case FileAlreadyExistsException taken -> taken.getFile() + ": something is there already";
          case NoSuchFileException missing -> missing.getFile() + ": is not there";
          case DataUnavailableException told -> told.getMessage();
          case MetadataUnavailableException told -> told.getMessage();
          case IOException told -> "Input or output failed: " + told.getMessage();
          default -> throw failure;
        });
    return 1;
  }

  /** Without what other threads and streams wrap it in. */
  private static Throwable reason(Throwable failure) {
    Throwable cause = failure.getCause();
    boolean isWrapped =
        failure instanceof java.util.concurrent.ExecutionException
            || failure instanceof UncheckedIOException;
    return isWrapped && cause != null ? reason(cause) : failure;
  }

  private static boolean isInterruption(@Nullable Throwable failure) {
    return failure != null
        && (failure instanceof CancellationException || isInterruption(failure.getCause()));
  }
}
