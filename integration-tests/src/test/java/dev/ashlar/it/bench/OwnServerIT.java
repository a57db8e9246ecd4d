package dev.ashlar.it.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ashlar.bench.load.LoadCommand;
import dev.ashlar.it.harness.FailureReport;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code bench load} without an endpoint, as the README begins: a server of its own. */
@ExtendWith(FailureReport.class)
class OwnServerIT {
  @TempDir Path folder;

  @Test
  void itsServerCountsTheSame() throws Exception {
    Path results = folder.resolve("results");
    String[] arguments = {
      "--profile",
      "2+1",
      "--mix",
      "read=50,patch=50",
      "--sequential",
      "--signed-payload",
      "--objects",
      "2",
      "--object-size",
      "64KiB",
      "--operations",
      "40",
      "--warm-up",
      "0.1",
      "--passes",
      "1",
      "--folder",
      folder.toString(),
      "--results",
      results.toString(),
      "--ashlar",
      BenchFiles.launcher(folder).toString()
    };
    assertEquals(0, new CommandLine(new LoadCommand()).execute(arguments));
    JsonNode report = BenchFiles.only(results, "report.json");
    JsonNode counters = report.get("counters");
    assertEquals(counters.get("generator"), counters.get("server"));
    JsonNode total = report.get("passes").get(0).get("total");
    JsonNode conflicts = total.get("errors").path("HTTP 409 ConcurrentUpdatesPatchConflict");
    assertEquals(40, total.get("operations").asLong() + conflicts.asLong());
    assertEquals(total.get("operations").asLong() * 16384, total.get("bytes").asLong());
    BenchFiles.checkLatencies(total);
  }
}
