package dev.ashlar.it.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Starts the server as the launcher does, in a process of its own. */
public final class Launch {
  /** For a short life: what is compiled only once costs a third of the CPU time of a start. */
  static final String SHORT_LIFE = "-XX:TieredStopAtLevel=1";

  /**
   * With these the launcher runs what Maven has built, on the JDK of the tests, for a short life.
   */
  public static final Map<String, String> ENVIRONMENT =
      Map.of(
          "ASHLAR_BUILT",
          "yes",
          "JAVA_HOME",
          System.getProperty("java.home"),
          "ASHLAR_JAVA_OPTIONS",
          SHORT_LIFE);

  private static final long DEADLINE_SECONDS = 180;

  /** Begins a process that writes all it says to this file. */
  @FunctionalInterface
  public interface Start {
    Process writingTo(Path log) throws IOException;
  }

  private Launch() {}

  /**
   * How a start ended that was not expected to last.
   *
   * @param output standard output and standard error
   */
  public record Ended(int code, String output) {}

  /**
   * @param environment what the server gets beyond the environment of the tests
   */
  public static Process start(List<String> arguments, Map<String, String> environment, Path log)
      throws IOException {
    return start(List.of(), arguments, environment, log);
  }

  /**
   * @param before the command that is to run it, as one of ip does
   */
  public static Process start(
      List<String> before, List<String> arguments, Map<String, String> environment, Path log)
      throws IOException {
    Rehearsal.check();
    List<String> command = new ArrayList<>(before);
    command.add(launcher().toString());
    command.addAll(arguments);
    return run(command, environment, log);
  }

  /**
   * Starts another build.
   *
   * @param launcher the script at the root of its sources, which Maven has built there
   */
  static Process startOf(Path launcher, List<String> arguments, Path log) throws IOException {
    List<String> command = new ArrayList<>(List.of(launcher.toString()));
    command.addAll(arguments);
    return run(command, Map.of(), log);
  }

  private static Process run(List<String> command, Map<String, String> environment, Path log)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.environment().putAll(ENVIRONMENT);
    builder.environment().putAll(environment);
    return builder.start();
  }

  /** Done once for all tests, as a user's build does it: later starts take half the time. */
  private static final class Rehearsal {
    private static final Ended ENDED =
        ended(
            log -> {
              ProcessBuilder builder = new ProcessBuilder(launcher().toString(), "build");
              builder.environment().putAll(ENVIRONMENT);
              return builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
            });

    static void check() {
      if (ENDED.code() != 0) {
        throw new AssertionError(ENDED.toString());
      }
    }
  }

  /** The script at the root of the sources. */
  public static Path launcher() {
    Path here = Path.of("").toAbsolutePath();
    Path parent = here.resolveSibling("ashlar");
    return Files.isRegularFile(parent) ? parent : here.resolve("ashlar");
  }

  /** Starts the server on the folders below this root and waits until it gives up. */
  public static Ended refused(ServerSpec spec, Path root, Map<String, String> environment) {
    return ended(log -> start(spec.arguments(root, 0, 0), environment, log));
  }

  /** What the process does that this starts, once it has ended. */
  public static Ended ended(Start begin) {
    try {
      Path log = Files.createTempFile("ended", ".log");
      try {
        Process process = begin.writingTo(log);
        if (!process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)) {
          process.destroyForcibly();
          throw new AssertionError("goes on: " + Files.readString(log));
        }
        return new Ended(process.exitValue(), Files.readString(log));
      } finally {
        Files.delete(log);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
