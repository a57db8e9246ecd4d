package dev.ashlar.it.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ashlar.bench.curves.CurvesCommand;
import dev.ashlar.it.harness.FailureReport;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code bench curves} starts its servers, sweeps and draws; steps lie where they are said to. */
@ExtendWith(FailureReport.class)
class CurvesIT {
  private static final int STEPS = 2 + 2 * 2 + 2 * 1 + 2;

  @TempDir Path folder;

  @Test
  void twoProfilesSideBySide() throws Exception {
    Path results = folder.resolve("results");
    String[] arguments = {
      "--profile", "1+2",
      "--profile", "2+2,optimizations=off",
      "--depth", "1,4",
      "--block-size", "4KiB,64KiB",
      "--clients", "2",
      "--seconds", "0.2",
      "--warm-up", "0.1",
      "--passes", "2",
      "--phase", "before",
      "--folder", folder.toString(),
      "--results", results.toString(),
      "--ashlar", BenchFiles.launcher(folder).toString()
    };
    assertEquals(0, new CommandLine(new CurvesCommand()).execute(arguments));
    JsonNode curves = BenchFiles.only(results, "curves-before.json");
    assertEquals(2 * STEPS, curves.get("points").size());
    for (JsonNode point : curves.get("points")) {
      assertTrue(point.get("operations").asLong() > 0, point::toString);
      assertEquals(0, point.get("failures").asLong(), point::toString);
      assertTrue(
          point.get("p50Millis").get("mean").asDouble()
              <= point.get("p99Millis").get("mean").asDouble(),
          point::toString);
      assertEquals(2, point.get("operationsPerSecond").get("passes").size());
    }
    try (Stream<Path> files = Files.walk(results)) {
      List<Path> all = files.toList();
      for (Path file : all) {
        if (file.endsWith("result.json")) {
          check(BenchFiles.read(file));
        }
      }
      assertEquals(
          2 * 2 * STEPS, all.stream().filter(file -> file.endsWith("result.json")).count());
      Path step = Path.of("before/2+2-optimizations=off/pass-2/response-depth-4/result.json");
      assertTrue(all.stream().anyMatch(file -> file.endsWith(step)), all::toString);
      assertEquals(16, all.stream().filter(file -> file.toString().endsWith(".svg")).count());
      assertTrue(all.stream().anyMatch(file -> file.endsWith("index.html")), all::toString);
    }
  }

  /** Its numbers add up. */
  private static void check(JsonNode step) {
    JsonNode total = step.get("total");
    long bytes = total.get("operations").asLong() * step.get("load").get("blockBytes").asLong();
    assertEquals(bytes, total.get("bytes").asLong(), step::toString);
    BenchFiles.checkLatencies(total);
  }
}
