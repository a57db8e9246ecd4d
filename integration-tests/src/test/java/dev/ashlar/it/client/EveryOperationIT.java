package dev.ashlar.it.client;

import dev.ashlar.it.harness.Python;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Every operation of botocore's S3 model: what is not implemented is refused and changes nothing.
 * The assertions stand in every_operation_test.py.
 */
@ExtendWith(SharedServer.class)
class EveryOperationIT {
  @Test
  void everyOperation(ServerProcess server) throws Exception {
    Python.withClients().run("every_operation_test.py", server);
  }
}
