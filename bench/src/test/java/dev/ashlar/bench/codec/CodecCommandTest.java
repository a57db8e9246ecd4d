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
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CodecCommandTest {
  @TempDir private Path folder = Path.of("");

  @Test
  void printsTheClassicTable() throws IOException {
    Printed printed =
        Printed.by(
            "codec",
            "--plugins=java",
            "--results=" + folder,
            "--profile=4+2,6+2",
            "--iterations=6",
            "--size=64KiB",
            "--passes=2");
    assertEquals(0, printed.status(), printed.err());
    List<String[]> table =
        printed
            .out()
            .lines()
            .dropWhile(line -> !line.strip().startsWith("seconds"))
            .takeWhile(line -> !line.isBlank())
            .map(line -> line.strip().split(" +", -1))
            .toList();
    assertEquals(
        "seconds KB plugin k m work. iter. size eras.", String.join(" ", table.getFirst()));
    assertEquals(
        List.of("encode 0", "decode 0", "decode 1", "decode 2", "update 0"),
        table.stream()
            .filter(row -> row[3].equals("6"))
            .map(row -> row[5] + " " + row[8])
            .toList());
    assertEquals(1 + 2 * 5, table.size());
    for (String[] row : table.subList(1, table.size())) {
      assertTrue(Double.parseDouble(row[0]) >= 0);
      assertEquals(6 * 64, Integer.parseInt(row[1]));
      assertEquals("java", row[2]);
    }
    assertTrue(printed.err().contains("[20/20, 0:00 left]"), printed.err());
    assertTrue(printed.out().contains("Results: " + folder.toRealPath()), printed.out());
  }

  @Test
  void goesThroughEveryCombinationAndItsNumbersAddUp() throws IOException {
    Printed printed =
        Printed.by(
            "codec",
            "--plugins=java",
            "--results=" + folder,
            "--profile=4+3",
            "--erasures=exhaustive",
            "--iterations=30",
            "--size=100000",
            "--passes=1",
            "--json");
    assertEquals(0, printed.status(), printed.err());
    JsonNode rows = new ObjectMapper().readTree(printed.out()).get("rows");
    assertEquals(6, rows.size());
    int[] combinations = {1, 7, 21, 35};
    for (JsonNode row : rows) {
      int iterations = row.get("iterations").asInt();
      assertEquals(iterations * 100000L / 1024, row.get("KB").asLong());
      double speed = 100000.0 * iterations / row.get("seconds").asDouble() / 1e9;
      assertEquals(speed, row.get("gigabytesPerSecond").asDouble(), 1e-9 * speed);
      if (row.get("workload").asText().equals("decode")) {
        int of = combinations[row.get("erasures").asInt()];
        assertEquals(0, iterations % of);
        assertTrue(iterations >= 30 && iterations < 30 + of);
      } else {
        assertEquals(30, iterations);
      }
    }
  }

  @Test
  void ratiosAreThoseOfTheSeconds() {
    CodeShape shape = new CodeShape(6, 2);
    CodecTask encode = CodecTask.encode(shape, 1 << 20, 10);
    CodecTask update = CodecTask.update(shape, 1 << 20, 10);
    CodecResult result =
        CodecResult.of(
            "here",
            3,
            List.of(
                CodecResult.Row.of("isal", encode, 1, List.of(3.0, 1.0, 2.0)),
                CodecResult.Row.of("jerasure", encode, 1, List.of(8.0)),
                CodecResult.Row.of("isal", update, 1, List.of(1.0))));
    assertEquals(
        List.of(new CodecResult.Ratio("isal", 6, 2, CodecTask.Workload.ENCODE, 0, 4)),
        result.ratios());
    assertEquals(1.0, result.rows().getFirst().spread());
    assertTrue(result.rows().getFirst().isUnsteady());
    assertFalse(result.rows().getLast().isUnsteady());
  }

  /** Only where it is installed is there more to see than a line that says what is missing. */
  @Test
  void comparesWithJerasureOrSaysWhatIsMissing() throws IOException {
    Printed printed =
        Printed.by(
            "codec",
            "--plugins=java,jerasure",
            "--results=" + folder,
            "--profile=6+2",
            "--erasures=exhaustive",
            "--iterations=3",
            "--passes=1",
            "--json");
    assertEquals(0, printed.status(), printed.err());
    JsonNode result = new ObjectMapper().readTree(printed.out());
    if (printed.err().contains("jerasure is left out")) {
      assertTrue(printed.err().contains("apt-get install gcc libjerasure-dev"));
      assertEquals(0, result.get("ratios").size());
    } else {
      assertEquals(3, result.get("ratios").size());
    }
  }

  @Test
  void goesOnWithoutACompiler() {
    Path none = folder.resolve("cc");
    Printed printed =
        Printed.by(
            "codec",
            "--plugins=java,jerasure",
            "--results=" + folder,
            "--profile=2+1",
            "--iterations=1",
            "--size=4096",
            "--passes=1",
            "--compiler=" + none);
    assertEquals(0, printed.status(), printed.err());
    assertTrue(printed.err().contains("jerasure is left out: " + none + " does not start"));
    assertTrue(printed.out().contains("| 2+1 java |"));
  }

  @Test
  void aLibraryThatIsNotThereIsSaidInOneLine() throws IOException {
    Path failing = folder.resolve("failing");
    Files.writeString(
        failing,
        "#!/bin/sh\necho 'jerasure.c:10: fatal error: jerasure.h: No such file'\nexit 1\n");
    assertTrue(failing.toFile().setExecutable(true));
    Printed printed = Printed.by("codec", "--plugins=jerasure", "--compiler=" + failing);
    assertEquals(2, printed.status());
    assertTrue(printed.err().contains("fatal error: jerasure.h: No such file. It needs gcc"));
  }

  @Test
  void wrongOptionsAreRefused() {
    assertEquals(2, Printed.by("codec", "--erasures=many").status());
    assertEquals(2, Printed.by("codec", "--profile=4+0").status());
    assertEquals(2, Printed.by("codec", "--profile=four").status());
    assertEquals(2, Printed.by("codec", "--plugins=other").status());
    assertEquals(2, Printed.by("codec", "--size=0").status());
    assertEquals(2, Printed.by("codec", "--size=2GiB").status());
  }

  @Test
  void combinationsAreAllAndDifferent() {
    List<int[]> all = CodecTask.allLosses(11, 3);
    Set<String> different = texts(all);
    assertEquals(165, all.size());
    assertEquals(165, different.size());
    assertEquals(10, texts(CodecTask.someLosses(all, 10)).size());
    assertEquals(different, texts(CodecTask.someLosses(all, 165)));
    assertEquals(1, CodecTask.allLosses(5, 0).size());
    assertEquals(1, CodecTask.allLosses(5, 5).size());
  }

  private static Set<String> texts(List<int[]> combinations) {
    return combinations.stream().map(Arrays::toString).collect(Collectors.toSet());
  }
}
