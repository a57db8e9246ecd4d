package dev.ashlar.it.client;

import dev.ashlar.it.harness.Python;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The aws cli as a person uses it; the assertions stand in aws_cli_test.py. */
@ExtendWith(SharedServer.class)
class AwsCliIT {
  @Test
  void awsCli(ServerProcess server, @TempDir Path files) throws Exception {
    Python.withClients().run("aws_cli_test.py", server, "" + Seeds.seed("AwsCliIT"), "" + files);
  }
}
