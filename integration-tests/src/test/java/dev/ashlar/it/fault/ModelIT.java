package dev.ashlar.it.fault;

import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Random operations on the server and on a model made of a {@code TreeMap}, compared one by one,
 * with restarts in between. {@code -Dashlar.model.operations} says how many (200).
 */
class ModelIT {
  private static final int OPERATIONS = Integer.getInteger("ashlar.model.operations", 200);
  private static final int OPERATIONS_PER_RUN = 100;

  @Test
  void serverDoesAsTheModel() {
    SplittableRandom random = new SplittableRandom(Seeds.seed("ModelIT"));
    try (ServerProcess server = ServerProcess.start(ServerSpec.named("model"));
        S3Client s3 = Clients.sync(server)) {
      ModelOperations operations = new ModelOperations(s3, random);
      for (int i = 1; i <= OPERATIONS; i++) {
        operations.step();
        if (i % OPERATIONS_PER_RUN == 0) {
          restart(server, random.nextBoolean());
          operations.compareAll();
        }
      }
      operations.compareAll();
    }
  }

  private static void restart(ServerProcess server, boolean gently) {
    if (gently) {
      server.stop();
    } else {
      server.kill();
    }
    server.start();
  }
}
