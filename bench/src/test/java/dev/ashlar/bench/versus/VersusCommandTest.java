package dev.ashlar.bench.versus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.bench.Printed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command with a script in warp's place, which needs no server. */
class VersusCommandTest {
  /** Operations one behind the other; those of port 2 take longer; STAT fails on port 1. */
  private static final String SCRIPT =
      """
      #!/bin/sh
      echo "$WARP_ACCESS_KEY $*" >> CALLS
      pause=0.01
      case "$*" in *:2\\ *) pause=0.03 ;; "stat "*) echo "no STAT here" >&2; exit 1 ;; esac
      type=$(echo "$1" | tr a-z A-Z)
      i=0
      while [ $i -lt 8 ]; do
        start=$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)
        sleep $pause
        end=$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)
        printf '%d\\t0\\t%s\\tc\\t1\\t4096\\thttp://h\\tkey\\t\\t%s\\t\\t%s\\t1\\t0\\n' $i $type $start $end
        i=$((i + 1))
      done
      echo "Report: done"
      """;

  @TempDir private Path folder = Path.of("");
  private Path calls = Path.of("");
  private Path warp = Path.of("");

  @BeforeEach
  void writeScript() throws IOException {
    calls = folder.resolve("calls");
    warp = folder.resolve("warp");
    Files.writeString(warp, SCRIPT.replace("CALLS", calls.toString()));
    assertTrue(warp.toFile().setExecutable(true));
  }

  @Test
  void measuresServersThatRunInTurn() throws IOException {
    Printed printed = versus("--work=GET_4K,PUT_4K", "--passes=2", "--json");
    assertEquals(0, printed.status(), printed.err());
    JsonNode result = new ObjectMapper().readTree(printed.out());
    assertEquals("slow", result.get("reference").asText());
    JsonNode rows = result.get("rows");
    assertEquals(4, rows.size());
    for (int i = 0; i < 4; i += 2) {
      JsonNode quick = rows.get(i);
      JsonNode slow = rows.get(i + 1);
      assertEquals(i == 0 ? "GET 4 KiB" : "PUT 4 KiB", quick.get("work").asText());
      assertEquals(List.of("quick", "slow"), List.of(name(quick), name(slow)));
      assertNull(slow.get("ratios"));
      for (String figure : List.of("operationsPerSecond", "p50Millis", "p99Millis")) {
        double ratio = quick.get(figure).asDouble() / slow.get(figure).asDouble();
        assertEquals(ratio, quick.get("ratios").get(figure).asDouble(), 1e-9 * ratio);
      }
      for (JsonNode row : List.of(quick, slow)) {
        assertEquals(2, row.get("passes").get("passes").size());
        assertEquals(0, row.get("failures").asInt());
        assertTrue(row.get("p50Millis").asDouble() <= row.get("p99Millis").asDouble());
      }
      // Only of the second the process is named: this one.
      assertNull(quick.get("cpuMillis"));
      assertTrue(slow.get("rssMebibytes").asDouble() > 1);
      assertTrue(slow.has("cpuMillis") && slow.has("machineCpuMillis"));
    }
    checkCalls(Files.readAllLines(calls));
  }

  private static String name(JsonNode row) {
    return row.get("server").asText();
  }

  /** The order turns from pass to pass, and at last the bucket is emptied. */
  private static void checkCalls(List<String> calls) {
    assertEquals(12, calls.size());
    assertEquals(
        List.of(1, 2, 2, 1, 1, 2),
        calls.subList(0, 6).stream().map(call -> call.contains(" 127.0.0.1:1 ") ? 1 : 2).toList());
    for (int i = 0; i < calls.size(); i++) {
      String call = calls.get(i);
      assertEquals(i % 6 < 4, call.endsWith(" --keep-data"), call);
      assertTrue(call.contains(" --bucket mine "), call);
      assertTrue(call.startsWith("me "), call);
      assertFalse(call.contains("my-secret"), call);
    }
  }

  @Test
  void goesOnWhenAServerFailsAtAWork() {
    Printed printed = versus("--work=STAT,PUT_4K", "--passes=1");
    assertEquals(1, printed.status());
    assertTrue(printed.err().contains("STAT, quick: warp ended with status 1: no STAT here"));
    List<String> rows = printed.out().lines().filter(line -> line.startsWith("| ")).toList();
    assertEquals(4, rows.size(), printed.out());
    assertTrue(rows.get(1).startsWith("| STAT | slow | "));
    assertTrue(rows.get(2).startsWith("| PUT 4 KiB | quick | "));
    assertTrue(rows.get(2).contains(" | – | "));
    int columns = rows.getFirst().split("\\|", -1).length;
    rows.forEach(row -> assertEquals(columns, row.split("\\|", -1).length, row));
  }

  private Printed versus(String... options) {
    List<String> given =
        List.of(
            "versus",
            "--servers=none",
            "--warp=" + warp,
            "--folder=" + folder,
            "--results=" + folder.resolve("results"),
            "--bucket=mine",
            "--warm-up=0",
            "--drain=0",
            "--endpoint=http://127.0.0.1:1",
            "--name=quick",
            "--access-key=me",
            "--secret-key=my-secret",
            "--endpoint=http://127.0.0.1:2/",
            "--name=slow",
            "--access-key=me",
            "--secret-key=my-secret",
            "--pid=" + ProcessHandle.current().pid());
    return Printed.by(Stream.concat(given.stream(), Stream.of(options)).toArray(String[]::new));
  }

  @Test
  void whatIsMissingIsSaidInALine() {
    Printed noWarp = Printed.by("versus", "--servers=none", "--warp=" + folder.resolve("none"));
    assertEquals(1, noWarp.status());
    assertTrue(noWarp.err().contains("is no program"), noWarp.err());
    Printed noServer = Printed.by("versus", "--servers=none", "--warp=" + warp);
    assertEquals(1, noServer.status());
    assertTrue(noServer.err().contains("\nNothing to measure"), noServer.err());
    Printed noUrl =
        Printed.by(
            "versus",
            "--warp=" + warp,
            "--servers=none",
            "--endpoint=garage",
            "--access-key=a",
            "--secret-key=b");
    assertEquals(1, noUrl.status());
    assertTrue(noUrl.err().contains("'garage' is no endpoint"), noUrl.err());
    Printed noLauncher =
        Printed.by("versus", "--warp=" + warp, "--ashlar=" + folder.resolve("none"));
    assertEquals(1, noLauncher.status());
    assertTrue(noLauncher.err().contains("\nThere is no launcher at "), noLauncher.err());
  }
}
