package dev.ashlar.it.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.it.harness.Launch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;

/** What the commands leave behind. */
final class BenchFiles {
  private BenchFiles() {}

  /** The JSON file of this name, the only one somewhere below the folder. */
  static JsonNode only(Path folder, String name) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      List<Path> found = files.filter(file -> file.endsWith(name)).toList();
      assertEquals(1, found.size(), found::toString);
      return read(found.getFirst());
    }
  }

  static JsonNode read(Path json) throws IOException {
    return new ObjectMapper().readTree(json.toFile());
  }

  /** There are some, and they are ordered. */
  static void checkLatencies(JsonNode figures) {
    double before = 0;
    for (String name : List.of("p50", "p90", "p99", "p999", "max")) {
      double millis = figures.get("latency").get(name).asDouble();
      assertTrue(millis > 0 && millis >= before, figures::toString);
      before = millis;
    }
  }

  /** Stands in for the script {@code ashlar}, which would build first: the classes under test. */
  static Path launcher(Path folder) throws IOException {
    StringBuilder script = new StringBuilder("#!/usr/bin/env bash\n");
    Launch.ENVIRONMENT.forEach(
        (name, value) -> script.append("export %s='%s'\n".formatted(name, value)));
    script.append("exec '%s' \"$@\"\n".formatted(Launch.launcher()));
    Path file = Files.writeString(folder.resolve("launcher"), script);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }
}
