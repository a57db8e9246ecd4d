package dev.ashlar.it.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Launch;
import dev.ashlar.it.harness.Python;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A profile that is added to a store is a storage class of its clients; the assertions about those
 * stand in storage_class_test.py. Lifecycle rules of which days have two seconds move objects to
 * it, among other things: lifecycle_test.py.
 */
class StorageClassIT {
  private static final int DRIVES = 8;

  private final String seed = "" + Seeds.seed("StorageClassIT");

  @Test
  void classes(@TempDir Path files) throws Exception {
    ServerSpec spec =
        new ServerSpec("storage-class", DRIVES, 1, "4+2", 16 << 10)
            .withOptions("--lifecycle-day=2");
    Python python = Python.withClients();
    try (ServerProcess server = ServerProcess.start(spec)) {
      python.run("storage_class_test.py", server, seed, "" + files, "unknown");
      assertEquals(0, profile(server, "add", "STANDARD_IA", "2+2").code());
      python.run("storage_class_test.py", server, seed, "" + files, "write");
      python.run("lifecycle_test.py", server, seed);
      Launch.Ended refused = profile(server, "remove", "STANDARD_IA");
      assertEquals(1, refused.code(), refused.output());
      assertTrue(refused.output().contains("the profile is in use"), refused.output());
      String listed = profile(server, "list").output();
      assertTrue(listed.contains("STANDARD_IA"), listed);
      server.stop();
      server.driveFolders().subList(0, 2).forEach(ServerProcess::deleteRecursively);
      server.start();
      python.run("storage_class_test.py", server, seed, "" + files, "read");
    }
  }

  private static Launch.Ended profile(ServerProcess server, String... arguments) {
    List<String> command = new ArrayList<>(List.of("admin", "profile"));
    command.addAll(List.of(arguments));
    command.addAll(List.of("--management", "127.0.0.1:" + server.management("/").getPort()));
    return Launch.ended(log -> Launch.start(command, Map.of(), log));
  }
}
