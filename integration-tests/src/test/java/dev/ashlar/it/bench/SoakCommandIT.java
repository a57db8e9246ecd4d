package dev.ashlar.it.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ashlar.bench.soak.SoakCommand;
import dev.ashlar.it.harness.FailureReport;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import picocli.CommandLine;

/** {@code bench soak} sees all that it says it watches. */
@ExtendWith({SharedServer.class, FailureReport.class})
@Isolated("all that the server counts is its own")
class SoakCommandIT {
  @TempDir Path folder;

  @Test
  void watchesTheServer(ServerProcess server) throws Exception {
    Path results = folder.resolve("results");
    assertEquals(0, soak(server, server.pid(), results));
    JsonNode result = BenchFiles.only(results, "result.json");
    JsonNode total = result.get("load").get("total");
    assertEquals(0, total.get("errors").size(), total::toString);
    long answered = 0;
    for (JsonNode count : result.get("load").get("answered")) {
      answered += count.asLong();
    }
    // 3 s of 100 a second, those included that a slow machine did not even send.
    assertEquals(300, answered + result.get("load").get("unsent").asLong(), total::toString);
    assertEquals(5, result.get("growth").size());
    double before = -1;
    for (JsonNode sample : result.get("samples")) {
      assertTrue(sample.get("seconds").asDouble() > before, sample::toString);
      before = sample.get("seconds").asDouble();
      for (String gauge :
          List.of(
              "residentMebibytes", "heapMebibytes", "directMebibytes", "threads", "cpuMillis")) {
        assertTrue(sample.get(gauge).asDouble() > 0, gauge + " of " + sample);
      }
      assertTrue(sample.get("fileHandles").asDouble() > 10, sample::toString);
    }
    try (Stream<Path> files = Files.walk(results)) {
      List<String> names = files.map(file -> file.getFileName().toString()).toList();
      assertTrue(names.contains("index.html"), names::toString);
      assertEquals(8, names.stream().filter(name -> name.endsWith(".png")).count());
      assertEquals(8, names.stream().filter(name -> name.endsWith(".svg")).count());
    }
  }

  /** Go's programs end when they are asked for what a JVM is: SIGQUIT. */
  @Test
  void asksAServerThatIsNotItsOwnForNothing(ServerProcess server) throws Exception {
    Process other =
        new ProcessBuilder("bash", "-c", "trap 'exit 3' QUIT; echo ready; read").start();
    try {
      assertEquals('r', other.getInputStream().read());
      soak(server, other.pid(), folder.resolve("other"));
      assertTrue(other.isAlive(), "watching it must not end it");
    } finally {
      other.destroyForcibly();
    }
  }

  private int soak(ServerProcess server, long pid, Path results) {
    String[] arguments = {
      "--endpoint",
      server.endpoint().toString(),
      "--access-key",
      ServerProcess.ACCESS_KEY,
      "--secret-key",
      ServerProcess.SECRET_KEY,
      "--management",
      server.management("/").toString(),
      "--pid",
      "" + pid,
      "--folder",
      folder.toString(),
      "--results",
      results.toString(),
      "--minutes",
      "0.05",
      "--rate",
      "100",
      "--objects",
      "4"
    };
    return new CommandLine(new SoakCommand()).execute(arguments);
  }
}
