package dev.ashlar.it.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ashlar.bench.curves.CurvesCommand;
import dev.ashlar.bench.load.LoadCommand;
import dev.ashlar.it.harness.FailureReport;
import dev.ashlar.it.harness.Launch;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code bench load} and {@code bench curves} on several profiles of one store that runs. */
@ExtendWith(FailureReport.class)
class StorageClassesIT {
  private static final ServerSpec SPEC = new ServerSpec("bench-classes", 3, 1, "2+1", 16 << 10);
  private static final int STEPS = 1 + 2 + 2 + 2;

  @TempDir Path folder;

  @Test
  void classesOfOneStoreInTurn() throws Exception {
    try (ServerProcess server = ServerProcess.start(SPEC)) {
      assertEquals(0, addProfile(server, "COLD", "1+2"));
      load(server);
      curves(server);
      List<Exception> failures = new ArrayList<>();
      CommandLine load = new CommandLine(new LoadCommand());
      load.setExecutionExceptionHandler((failure, command, parsed) -> failed(failure, failures));
      assertEquals(
          1,
          run(
              server,
              load,
              "--objects",
              "2",
              "--object-size",
              "64KiB",
              "--storage-class",
              "STANDARD,WARM"));
      String told = String.valueOf(failures.getFirst().getMessage());
      assertTrue(told.contains("objects of WARM: {HTTP 400 InvalidStorageClass="), told);
    }
  }

  private static int failed(Exception failure, List<Exception> failures) {
    failures.add(failure);
    return 1;
  }

  private void load(ServerProcess server) throws Exception {
    String[] more = {
      "--mix",
      "read=40,write=20,replace=20,append=20",
      "--operations",
      "60",
      "--passes",
      "2",
      "--object-size",
      "64KiB",
      "--objects",
      "2",
      "--storage-class",
      "STANDARD,COLD",
      "--warm-up",
      "0.1",
      "--management",
      server.management("/").toString()
    };
    assertEquals(0, run(server, new CommandLine(new LoadCommand()), more));
    JsonNode report = BenchFiles.only(folder, "report.json");
    for (String name : List.of("STANDARD", "COLD")) {
      JsonNode passes = report.get("classes").get(name).get("passes");
      assertEquals(2, passes.size());
      for (JsonNode pass : passes) {
        assertEquals(60, pass.get("total").get("operations").asLong(), pass::toString);
        assertEquals(0, pass.get("total").get("errors").size(), pass::toString);
      }
    }
    JsonNode counters = report.get("counters");
    assertEquals(counters.get("generator"), counters.get("server"));
    assertTrue(isKept("run/COLD/pass-2/load/result.json"));
  }

  private void curves(ServerProcess server) throws Exception {
    String[] more = {
      "--depth",
      "2",
      "--block-size",
      "4KiB",
      "--clients",
      "2",
      "--seconds",
      "0.1",
      "--warm-up",
      "0",
      "--passes",
      "1",
      "--storage-class",
      "STANDARD",
      "--storage-class",
      "COLD"
    };
    assertEquals(0, run(server, new CommandLine(new CurvesCommand()), more));
    JsonNode points = BenchFiles.only(folder, "curves-run.json").get("points");
    assertEquals(2 * STEPS, points.size());
    assertEquals("STANDARD", points.get(0).get("profile").asText());
    assertEquals("COLD", points.get(STEPS).get("profile").asText());
    assertTrue(isKept("run/COLD/pass-1/response-depth-2/result.json"));
  }

  private boolean isKept(String result) throws Exception {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.anyMatch(file -> file.endsWith(Path.of(result)));
    }
  }

  private int run(ServerProcess server, CommandLine command, String... more) {
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of("--endpoint", server.endpoint().toString()));
    arguments.addAll(List.of("--access-key", ServerProcess.ACCESS_KEY));
    arguments.addAll(List.of("--secret-key", ServerProcess.SECRET_KEY));
    arguments.addAll(List.of("--folder", "" + folder, "--results", "" + folder.resolve("r")));
    arguments.addAll(List.of(more));
    return command.execute(arguments.toArray(String[]::new));
  }

  private static int addProfile(ServerProcess server, String name, String shape) {
    String management = "127.0.0.1:" + server.management("/").getPort();
    List<String> command =
        List.of("admin", "profile", "add", name, shape, "--management", management);
    return Launch.ended(log -> Launch.start(command, Map.of(), log)).code();
  }
}
