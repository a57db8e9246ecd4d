package dev.ashlar.it.client;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.it.harness.Commands;
import dev.ashlar.it.harness.Python;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Programs that are no part of the build, each only where it is installed; the assertions stand in
 * programs_test.py.
 */
@ExtendWith(SharedServer.class)
class ProgramsIT {
  @ParameterizedTest
  @ValueSource(strings = {"mc", "rclone", "restic", "s3cmd"})
  void program(String name, ServerProcess server, @TempDir Path files) throws Exception {
    assumeTrue(Commands.isInstalled(name), name + " is not installed");
    Python.withClients()
        .run("programs_test.py", server, "" + Seeds.seed("ProgramsIT"), "" + files, name);
  }
}
