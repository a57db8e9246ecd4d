package dev.ashlar.it.client;

import dev.ashlar.it.harness.Python;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** boto3 with its default checksums; the assertions stand in boto3_test.py. */
@ExtendWith(SharedServer.class)
class Boto3IT {
  @Test
  void boto3(ServerProcess server) throws Exception {
    Python.withClients().run("boto3_test.py", server, "" + Seeds.seed("Boto3IT"));
  }
}
