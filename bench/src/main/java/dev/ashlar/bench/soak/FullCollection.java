package dev.ashlar.bench.soak;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * Has another JVM collect all of its garbage, by the JDK's {@code jcmd}: the heap then is what the
 * server needs. Left to itself, a collector may leave garbage of an hour in the old generation.
 *
 * <p>Only for a process that is known to be a JVM: {@code jcmd} sends SIGQUIT, of which others end.
 */
final class FullCollection {
  private static final int SECONDS_MAX = 30;

  private FullCollection() {}

  /** Waits for it; does nothing where there is no {@code jcmd}, or it is refused. */
  static void run(long pid) throws IOException, InterruptedException {
    Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
    if (!Files.isExecutable(jcmd)) {
      return;
    }
    Process process =
        new ProcessBuilder(jcmd.toString(), Long.toString(pid), "GC.run")
            .redirectOutput(Redirect.DISCARD)
            .redirectError(Redirect.DISCARD)
            .start();
    if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
  }
}
