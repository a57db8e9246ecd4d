package dev.ashlar.it.client;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.it.harness.Python;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** boto3 with its default checksums, and what it signs for browsers; see boto3_test.py. */
@ExtendWith(SharedServer.class)
class Boto3IT {
  @Test
  void boto3(ServerProcess server) throws Exception {
    Python.withClients().run("boto3_test.py", server, "" + Seeds.seed("Boto3IT"));
  }

  /** A page of another origin, in Chromium; the assertions stand in browser_test.py. */
  @Test
  void browser(ServerProcess server, @TempDir Path folder) throws Exception {
    Optional<Path> browser =
        Stream.of("chromium", "chromium-browser", "google-chrome")
            .map(name -> Path.of("/usr/bin", name))
            .filter(Files::isExecutable)
            .findFirst();
    assumeTrue(browser.isPresent(), "Chromium is not installed");
    Python.withClients()
        .run(
            "browser_test.py",
            server,
            "browser-" + Seeds.seed("Boto3IT") % 1_000_000,
            browser.get().toString(),
            folder.toString());
  }
}
