package dev.ashlar.it.client;

import dev.ashlar.it.harness.Python;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** IAM and STS with boto3 and the aws cli; the assertions stand in identity_test.py. */
@ExtendWith(SharedServer.class)
class IdentityIT {
  @Test
  void usersRolesAndSessions(ServerProcess server) throws Exception {
    Python.withClients().run("identity_test.py", server, "" + Seeds.seed("IdentityIT"));
  }
}
