package dev.ashlar.it.start;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Launch;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A start that cannot go well says why in one line and writes nothing. */
class RefusedStartIT {
  private static final ServerSpec SPEC = ServerSpec.named("refused");
  private static final Duration MARK_MAX = Duration.ofSeconds(30);

  @TempDir private Path root = Path.of("");

  @Test
  void badCredentialsInTheEnvironmentAreNoticedBeforeAnythingIsWritten() throws IOException {
    List<Map<String, String>> environments =
        List.of(
            Map.of("ASHLAR_ACCESS_KEY", "somebody"),
            Map.of("ASHLAR_ACCESS_KEY", "somebody", "ASHLAR_SECRET_KEY", "short"));
    for (Map<String, String> environment : environments) {
      Launch.Ended ended = Launch.refused(SPEC, root, environment);
      assertNotEquals(0, ended.code(), ended.output());
      assertOneLine(ended, "ASHLAR_SECRET_KEY");
      assertEquals(List.of(), files(root));
    }
  }

  @Test
  void foldersInUseAreLeftAlone() throws Exception {
    try (ServerProcess server = ServerProcess.start(ServerSpec.named("in-use"))) {
      awaitLogMark(server.root());
      List<Path> before = files(server.root());
      Launch.Ended ended = Launch.refused(server.spec(), server.root(), Map.of());
      assertNotEquals(0, ended.code(), ended.output());
      assertOneLine(ended, "in use by another process (pid " + server.pid() + ")");
      assertEquals(before, files(server.root()));
      server.stop();
      server.start();
    }
  }

  @Test
  void optionsAreTakenFromTheEnvironment() throws IOException {
    Map<String, String> environment =
        Map.of("ASHLAR_DATA", root + "/d{1...5}", "ASHLAR_PROFILE", "5+3");
    Launch.Ended ended = Launch.ended(log -> Launch.start(List.of("server"), environment, log));
    assertEquals(2, ended.code(), ended.output());
    assertTrue(
        ended
            .output()
            .startsWith(
                "ASHLAR_DATA in the environment: "
                    + "profile 5+3 needs at least 8 drive folders, --data names 5"),
        ended.output());
    assertEquals(2, ended.output().lines().count(), ended.output());
    assertEquals(List.of(), files(root));
  }

  @Test
  void dataOfAnotherProfileIsLeftAlone() throws IOException {
    ServerSpec spec = new ServerSpec("classic", 6, 1, "4+2,optimizations=off", 4096);
    try (ServerProcess server = ServerProcess.start(spec)) {
      server.stop();
      Launch.Ended ended =
          Launch.refused(new ServerSpec("classic", 6, 1, "4+2", 4096), server.root(), Map.of());
      assertNotEquals(0, ended.code(), ended.output());
      assertOneLine(
          ended, "this data was made with --profile 4+2,optimizations=off --stripe-unit 4096");
      server.start();
    }
  }

  private static void assertOneLine(Launch.Ended ended, String words) {
    List<String> lines = ended.output().lines().toList();
    assertEquals(1, lines.size(), ended.output());
    assertTrue(lines.get(0).contains(words), ended.output());
  }

  /** The last file that a server makes by itself, within a second or two of its start. */
  private static void awaitLogMark(Path root) throws InterruptedException {
    Path mark = root.resolve("m1").resolve("peer").resolve("log-mark");
    long deadlineNanos = System.nanoTime() + MARK_MAX.toNanos();
    while (!Files.exists(mark)) {
      assertTrue(System.nanoTime() < deadlineNanos, mark + " is not made");
      Thread.sleep(50);
    }
  }

  private static List<Path> files(Path root) throws IOException {
    try (Stream<Path> tree = Files.walk(root)) {
      return tree.filter(Files::isRegularFile).sorted().toList();
    }
  }
}
