package dev.ashlar.it.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ashlar.bench.load.LoadCommand;
import dev.ashlar.it.harness.FailureReport;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import picocli.CommandLine;

/** {@code bench load} measures what it says, and the server agrees. */
@ExtendWith({SharedServer.class, FailureReport.class})
@Isolated("all that the server counts is its own")
class LoadIT {
  private static final long OBJECT_BYTES = 128 << 10;
  private static final long BLOCK_BYTES = 16 << 10;

  @TempDir Path results;

  @Test
  void everyKindOfOperationAddsUp(ServerProcess server) throws Exception {
    JsonNode report =
        run(
            server,
            "--mix",
            "read=40,write=10,replace=10,patch=20,append=20",
            "--passes",
            "2",
            "--operations",
            "300");
    assertEquals(2, report.get("passes").size());
    for (JsonNode pass : report.get("passes")) {
      long operations = 0;
      long bytes = 0;
      for (String kind : List.of("read", "write", "replace", "patch", "append")) {
        JsonNode figures = pass.get("kinds").get(kind);
        long each = kind.equals("write") || kind.equals("replace") ? OBJECT_BYTES : BLOCK_BYTES;
        check(figures, each, pass.get("seconds").asDouble());
        operations += figures.get("operations").asLong();
        bytes += figures.get("bytes").asLong();
      }
      assertEquals(300, operations);
      assertEquals(operations, pass.get("total").get("operations").asLong());
      assertEquals(bytes, pass.get("total").get("bytes").asLong());
      assertTrue(pass.get("server").get("cpuMillisPerOperation").asDouble() > 0);
      assertTrue(pass.get("server").get("residentMebibytesMax").asDouble() > 100);
    }
    JsonNode counters = report.get("counters");
    assertEquals(counters.get("generator"), counters.get("server"));
    assertTrue(counters.get("server").get("AppendObject").asLong() > 0);
  }

  @Test
  void pagesOfKeysAreListed(ServerProcess server) throws Exception {
    JsonNode report = run(server, "--mix", "list", "--passes", "1", "--operations", "20");
    JsonNode figures = report.get("passes").get(0).get("kinds").get("list");
    assertEquals(20, figures.get("operations").asLong(), figures::toString);
    assertEquals(0, figures.get("errors").size(), figures::toString);
  }

  /** However slow the server is: what was not sent is counted too. */
  @Test
  void anOpenLoopBeginsWhatItSays(ServerProcess server) throws Exception {
    JsonNode report = run(server, "--mix", "read", "--rate", "100", "--warm-up", "0");
    JsonNode pass = report.get("passes").get(0);
    long answered = pass.get("answered").path("GetObject").asLong();
    assertEquals(100, answered + pass.get("unsent").asLong(), pass::toString);
  }

  private static void check(JsonNode figures, long bytesEach, double seconds) {
    long operations = figures.get("operations").asLong();
    assertTrue(operations > 0, figures::toString);
    assertEquals(0, figures.get("errors").size(), figures::toString);
    assertEquals(operations * bytesEach, figures.get("bytes").asLong());
    assertEquals(operations / seconds, figures.get("operationsPerSecond").asDouble(), 1e-6);
    assertEquals(
        operations * bytesEach / seconds / (1 << 20),
        figures.get("mebibytesPerSecond").asDouble(),
        1e-6);
    BenchFiles.checkLatencies(figures);
  }

  private JsonNode run(ServerProcess server, String... more) throws Exception {
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of("--endpoint", server.endpoint().toString()));
    arguments.addAll(List.of("--access-key", ServerProcess.ACCESS_KEY));
    arguments.addAll(List.of("--secret-key", ServerProcess.SECRET_KEY));
    arguments.addAll(List.of("--management", server.management("/").toString()));
    arguments.addAll(List.of("--pid", "" + server.pid(), "--folder", "" + results));
    arguments.addAll(List.of("--results", results.resolve("r").toString(), "--passes", "1"));
    arguments.addAll(List.of("--object-size", "128KiB", "--objects", "4", "--seconds", "1"));
    arguments.addAll(List.of("--warm-up", "0.5", "--clients", "2", "--depth", "2"));
    arguments.addAll(List.of(more));
    CommandLine command = new CommandLine(new LoadCommand()).setOverwrittenOptionsAllowed(true);
    assertEquals(0, command.execute(arguments.toArray(String[]::new)));
    return BenchFiles.only(results.resolve("r"), "report.json");
  }
}
