package dev.ashlar.bench.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.bench.Printed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JmhCommandTest {
  private static final int PASSES = 2;
  private static final int ITERATIONS = 2;

  static {
    // Somebody else on this machine may be using JMH; nothing here says how fast anything is.
    System.setProperty("jmh.ignoreLock", "true");
  }

  @TempDir private Path folder = Path.of("");

  @Test
  void measuresInProcessesOfTheirOwnAndItsNumbersAddUp() throws IOException {
    Printed printed =
        Printed.by(
            "codec",
            "jmh",
            "--only=RepairBenchmark.decode",
            "--profile=2+1",
            "--shard-bytes=4096",
            "--passes=" + PASSES,
            "--iterations=" + ITERATIONS,
            "--millis=10",
            "--results=" + folder,
            "--json");
    assertEquals(0, printed.status(), printed.err());
    assertTrue(printed.err().contains("[2/2, 0:00 left] pass 2"), printed.err());
    List<String> codecs = new ArrayList<>();
    for (JsonNode row : new ObjectMapper().readTree(printed.out()).get("rows")) {
      codecs.add(row.get("codec").asText());
      assertEquals("2+1", row.get("profile").asText());
      assertEquals(PASSES * ITERATIONS, row.get("iterations").asInt());
      double speed = 2 * 4096 / row.get("nanos").asDouble();
      assertEquals(speed, row.get("gigabytesPerSecond").asDouble(), 1e-9 * speed);
    }
    // Also where there is no ISA-L.
    assertTrue(codecs.contains("JAVA"), printed.out());
    try (Stream<Path> files = Files.walk(folder)) {
      Path step = Path.of("run/2+1/pass-2/Repair.decode-java-4096/result.json");
      assertTrue(files.anyMatch(file -> file.endsWith(step)));
    }
  }
}
