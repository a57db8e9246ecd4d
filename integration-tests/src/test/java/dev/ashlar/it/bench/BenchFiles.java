package dev.ashlar.it.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
      return new ObjectMapper().readTree(found.getFirst().toFile());
    }
  }
}
