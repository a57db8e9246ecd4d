package dev.ashlar.it.client;

import dev.ashlar.it.harness.Python;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Versions with boto3 and the aws cli; the assertions stand in versioning_test.py. */
@ExtendWith(SharedServer.class)
class VersioningIT {
  @Test
  void boto3AndAwsCli(ServerProcess server) throws Exception {
    Python.withClients().run("versioning_test.py", server, "" + Seeds.seed("VersioningIT"));
  }
}
