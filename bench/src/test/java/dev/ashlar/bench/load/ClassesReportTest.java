package dev.ashlar.bench.load;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class ClassesReportTest {
  private static final LoadReport.Counters COUNTERS =
      new LoadReport.Counters(Map.of("GetObject", 30L), Map.of("GetObject", 30L), 0);

  @Test
  void classesStandSideBySide() {
    Map<String, List<LoadResult>> passes = new LinkedHashMap<>();
    passes.put("STANDARD", List.of(pass(10), pass(10)));
    passes.put("COLD", List.of(pass(5), pass(5)));
    ClassesReport report = ClassesReport.of("A machine.", "a server", passes, COUNTERS);
    List<String> lines = printed(report::print);
    assertTrue(
        lines.contains(
            "| class | | op/s | MiB/s | mean ms | p50 | p90 | p99 | p99.9 | max | failed |"));
    List<String> rows = lines.stream().filter(line -> line.contains("| all |")).toList();
    assertEquals(2, rows.size());
    assertTrue(rows.get(0).startsWith("| STANDARD | all | 10.0 |"), rows::toString);
    assertTrue(rows.get(1).startsWith("| COLD | all | 5.0 |"), rows::toString);
    assertEquals(1, lines.stream().filter(line -> line.contains("counts the same")).count());
  }

  @Test
  void aLoadWithoutClassesNamesNone() {
    ClassesReport report =
        ClassesReport.of("A machine.", "a server", Map.of("4+2", List.of(pass(10))), COUNTERS);
    List<String> lines = printed(report.only()::print);
    assertTrue(
        lines.contains("| | op/s | MiB/s | mean ms | p50 | p90 | p99 | p99.9 | max | failed |"));
    assertTrue(lines.stream().anyMatch(line -> line.startsWith("| all | 10.0 |")), lines::toString);
    assertEquals(1, lines.stream().filter(line -> line.contains("counts the same")).count());
  }

  private static LoadResult pass(long operations) {
    LoadResult.Latency latency = new LoadResult.Latency(1, 1, 1, 1, 1, 1);
    LoadResult.Figures figures =
        new LoadResult.Figures(
            operations, operations << 20, operations, operations, latency, Map.of());
    return new LoadResult(
        "2026-01-01T00:00:00Z",
        new Load(Mix.parse("read"), 1 << 20, true, 1, 1, 0, 0, 1, 1, 0),
        1,
        1 << 20,
        1,
        figures,
        Map.of("read", figures),
        0,
        Map.of("GetObject", operations),
        null,
        new LoadResult.Client(1, 0.1));
  }

  private static List<String> printed(Consumer<PrintStream> print) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (PrintStream out = new PrintStream(bytes, true, UTF_8)) {
      print.accept(out);
    }
    return bytes.toString(UTF_8).lines().toList();
  }
}
