package dev.ashlar.bench.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.bench.Printed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@link IoCostTest} holds cell by cell is what the command says. */
class IoCostCommandTest {
  @TempDir private Path folder = Path.of("");

  @Test
  void countsAndKeepsWhatOperationsCost() throws IOException {
    Path results = folder.resolve("results");
    Printed printed =
        Printed.by(
            "io-cost",
            // Either mode of a profile stands for both, and twice the same for once.
            "--profile=2+1,optimizations=off,2+1",
            "--folder=" + folder,
            "--results=" + results,
            "--json");
    assertEquals(0, printed.status(), printed.err());
    JsonNode rows = new ObjectMapper().readTree(printed.out()).get("rows");
    assertEquals(2 * Access.values().length, rows.size());
    for (JsonNode row : rows) {
      assertEquals("2+1", row.get("profile").asText());
      assertEquals(5, row.get("costs").size());
      for (JsonNode cost : row.get("costs")) {
        checkCost(row.get("operation").asText(), cost);
      }
    }
    JsonNode fast = rows.get(0).get("costs").get(0);
    assertEquals(List.of(1L, 4096L), List.of(count(fast, "reads"), count(fast, "readBytes")));
    try (Stream<Path> files = Files.walk(results)) {
      assertEquals(
          rows.size(),
          files.filter(file -> file.endsWith("result.json")).count(),
          results::toString);
    }
  }

  private static void checkCost(String operation, JsonNode cost) {
    long bytes = count(cost, "bytes");
    if (operation.equals("read")) {
      assertTrue(count(cost, "readBytes") >= bytes, cost::toString);
      assertEquals(0, count(cost, "writes"), cost::toString);
    } else {
      // With the parity of two data shards.
      assertTrue(count(cost, "writeBytes") >= bytes + bytes / 2, cost::toString);
    }
  }

  private static long count(JsonNode cost, String figure) {
    return cost.get(figure).asLong();
  }
}
