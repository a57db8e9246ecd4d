package dev.ashlar.bench.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.bench.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class JmhResultTest {
  private static final JmhRow ENCODE = new JmhRow("Encode.encode", "4+2", "ISAL", 16384);

  private final JmhResult result =
      JmhResult.of(
          "here",
          1,
          new TreeMap<>(
              Map.of(
                  ENCODE,
                  List.of(1000.0, 900.0, 1100.0),
                  ENCODE.inC(),
                  List.of(800.0, 750.0, 820.0))));

  @Test
  void figuresAreMediansOfAllIterations() {
    JmhResult.Row java = result.rows().getFirst();
    assertEquals("Encode.encode", java.benchmark());
    assertEquals(3, java.iterations());
    assertEquals(1000, java.nanos());
    assertEquals(100, java.deviationNanos());
    assertEquals(4 * 16384 / 1000.0, java.gigabytesPerSecond());
    assertEquals(80, java.percentOfC());
    assertNull(result.rows().getLast().percentOfC());
  }

  @Test
  void jsonAndTableSayTheSame() throws IOException {
    JsonNode rows = new ObjectMapper().readTree(Json.of(result)).get("rows");
    assertEquals(2, rows.size());
    assertEquals(1000, rows.get(0).get("nanos").asDouble());
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    result.print(new PrintStream(out, true, StandardCharsets.UTF_8));
    List<String> lines = out.toString(StandardCharsets.UTF_8).lines().toList();
    assertEquals(2 + 2, lines.size(), lines::toString);
    assertTrue(lines.get(2).contains(" 1000.0 ") && lines.get(2).contains(" 80 % "), lines.get(2));
  }
}
