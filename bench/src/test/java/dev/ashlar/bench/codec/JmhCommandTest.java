package dev.ashlar.bench.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
  static {
    // Somebody else on this machine may be using JMH; nothing here says how fast anything is.
    System.setProperty("jmh.ignoreLock", "true");
  }

  @TempDir private Path folder = Path.of("");

  @Test
  void measuresInProcessesOfTheirOwnAsJmhIsTold() throws IOException {
    Printed printed =
        Printed.by(
            "codec",
            "jmh",
            "--results=" + folder,
            "-p",
            "bytes=4096",
            "-f",
            "2",
            "-r",
            "10ms",
            "-w",
            "10ms",
            "crc64NvmeInJava|md5ByJdk");
    assertEquals(0, printed.status(), printed.err());
    List<String> names = new ArrayList<>();
    for (JsonNode row : new ObjectMapper().readTree(Files.readString(report()))) {
      names.add(row.get("benchmark").asText().replaceAll(".*\\.", ""));
      assertEquals("4096", row.get("params").get("bytes").asText());
      assertEquals(2, row.get("forks").asInt());
      assertEquals(2, row.get("measurementIterations").asInt());
      assertEquals("10 ms", row.get("measurementTime").asText());
      assertTrue(row.get("primaryMetric").get("score").asDouble() > 0);
    }
    assertEquals(List.of("crc64NvmeInJava", "md5ByJdk"), names);
  }

  private Path report() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.endsWith("report.json")).findFirst().orElseThrow();
    }
  }

  @Test
  void optionsThatJmhDoesNotKnowAreSaidInALine() {
    Printed printed = Printed.by("codec", "jmh", "--results=" + folder, "--iterations", "5");
    assertEquals(1, printed.status());
    assertTrue(printed.err().contains("iterations"), printed.err());
    assertFalse(printed.err().contains("\tat "), printed.err());
  }
}
