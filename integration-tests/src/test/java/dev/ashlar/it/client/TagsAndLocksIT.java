package dev.ashlar.it.client;

import dev.ashlar.it.harness.Python;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tags, renames and object lock with boto3; the assertions stand in tags_and_locks_test.py. */
@ExtendWith(SharedServer.class)
class TagsAndLocksIT {
  @Test
  void boto3(ServerProcess server) throws Exception {
    Python.withClients().run("tags_and_locks_test.py", server, "" + Seeds.seed("TagsAndLocksIT"));
  }
}
