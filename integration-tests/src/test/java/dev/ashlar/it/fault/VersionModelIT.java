package dev.ashlar.it.fault;

import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Random operations on versions, markers, tags and locks, on the server and on a model made of
 * lists, compared one by one, with clean restarts and kills in between. {@code
 * -Dashlar.model.minutes} says for how long at least.
 */
class VersionModelIT {
  private static final int MINUTES = Integer.getInteger("ashlar.model.minutes", 0);
  private static final int OPERATIONS_MIN = 250;
  private static final int OPERATIONS_PER_RUN = 125;

  /** Then the next buckets begin, as what is locked for long is never deleted. */
  private static final int OPERATIONS_PER_BUCKET = 1_500;

  @Test
  void serverDoesAsTheModel() {
    SplittableRandom random = new SplittableRandom(Seeds.seed("VersionModelIT"));
    Instant end = Instant.now().plus(Duration.ofMinutes(MINUTES));
    int restarts = 0;
    int operations = 0;
    try (ServerProcess server = ServerProcess.start(ServerSpec.named("version-model"));
        S3Client s3 = Clients.sync(server)) {
      List<VersionModelOperations> buckets = buckets(s3, random);
      while (operations < OPERATIONS_MIN || Instant.now().isBefore(end)) {
        for (int i = 0; i < OPERATIONS_PER_RUN; i++, operations++) {
          buckets.get(random.nextInt(buckets.size())).step();
        }
        restart(server, restarts++ % 2 == 0);
        buckets.forEach(VersionModelOperations::compareAll);
        if (operations % OPERATIONS_PER_BUCKET == 0) {
          buckets = buckets(s3, random);
        }
      }
    }
    System.out.println("version model: " + operations + " operations, " + restarts + " restarts");
  }

  private static List<VersionModelOperations> buckets(S3Client s3, SplittableRandom random) {
    return List.of(
        new VersionModelOperations(s3, false, random),
        new VersionModelOperations(s3, true, random));
  }

  private static void restart(ServerProcess server, boolean kill) {
    if (kill) {
      server.kill();
    } else {
      server.stop();
    }
    server.start();
  }
}
