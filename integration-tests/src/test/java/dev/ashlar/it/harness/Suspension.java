package dev.ashlar.it.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/** Stops all threads of another process for the time of an action. */
public final class Suspension {
  private static final Duration STOP_MAX = Duration.ofSeconds(30);

  private Suspension() {}

  /** What is done meanwhile. */
  @FunctionalInterface
  public interface Action {
    void run() throws Exception;
  }

  /**
   * Runs the action while no thread of the process runs and all their system calls have returned.
   */
  public static void during(long pid, Action action) throws Exception {
    Commands.run("kill", "-STOP", "" + pid);
    try {
      Await.until("process " + pid + " is stopped", STOP_MAX, () -> areAllStopped(pid));
      action.run();
    } finally {
      Commands.run("kill", "-CONT", "" + pid);
    }
  }

  private static boolean areAllStopped(long pid) throws IOException {
    try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
      for (Path thread : threads.toList()) {
        if (!isStopped(thread)) {
          return false;
        }
      }
      return true;
    }
  }

  /** The state is behind the name, which is in parentheses: proc(5). */
  private static boolean isStopped(Path thread) throws IOException {
    try {
      String stat = Files.readString(thread.resolve("stat"));
      return stat.charAt(stat.lastIndexOf(')') + 2) == 'T';
    } catch (NoSuchFileException e) {
      return true; // it has ended
    }
  }
}
