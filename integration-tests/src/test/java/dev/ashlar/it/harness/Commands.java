package dev.ashlar.it.harness;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Commands of the operating system. */
public final class Commands {
  private Commands() {}

  /**
   * How one ended.
   *
   * @param output standard output and standard error
   */
  public record Ended(int code, String output) {}

  /** Runs it to its end; that it fails is a failure. */
  public static String run(String... command) {
    Ended ended = tried(command);
    if (ended.code() != 0) {
      throw new AssertionError(List.of(command) + ": " + ended);
    }
    return ended.output();
  }

  /** Runs it to its end, which may be any. */
  public static Ended tried(String... command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      process.getOutputStream().close();
      String output =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      return new Ended(process.waitFor(), output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Whether the path has a program of this name. */
  public static boolean isInstalled(String program) {
    return Stream.of(System.getenv("PATH").split(File.pathSeparator))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }
}
