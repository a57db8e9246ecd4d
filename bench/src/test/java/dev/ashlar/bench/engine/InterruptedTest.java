package dev.ashlar.bench.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Ctrl-C in the middle of the work, in a process of its own. */
@Execution(ExecutionMode.CONCURRENT)
class InterruptedTest {
  private static final long END_MAX_SECONDS = 60;

  @TempDir private Path folder = Path.of("");

  @Test
  void leavesNothingBehindAndComplainsOfNothing() throws Exception {
    Process bench = ioCost();
    try (BufferedReader said = bench.errorReader(StandardCharsets.UTF_8)) {
      String line = said.readLine();
      while (line != null && !line.startsWith("[1/")) {
        line = said.readLine();
      }
      while (names().isEmpty()) { // between the folder of one store and the next
        assertTrue(bench.isAlive(), "works in a folder of its own");
        Thread.onSpinWait();
      }
      bench.toHandle().destroy(); // the other way would close what we read
      String rest = said.lines().collect(Collectors.joining("\n"));
      assertTrue(bench.waitFor(END_MAX_SECONDS, TimeUnit.SECONDS), rest);
      assertFalse(rest.contains("ERROR") || rest.contains("WARN"), rest);
      assertFalse(rest.contains("Exception") || rest.contains("could not"), rest);
      assertEquals(List.of(), names());
    } finally {
      bench.destroyForcibly();
    }
  }

  private Process ioCost() throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            "dev.ashlar.bench.Bench",
            "io-cost",
            "--folder=" + folder,
            "--results=" + folder.resolve("results"),
            "--profile=2+1,4+2,6+2,8+3")
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.startsWith("bench-"))
          .toList();
    }
  }
}
