package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Metrics;
import dev.ashlar.it.harness.ServerProcess;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.SplittableRandom;

/** What tests have in common that end the server in the midst of a {@link ChangeWorkload}. */
final class CrashRound {
  private static final int CHANGES_MAX = 400;

  /** What the health page says of debts is up to a second old. */
  private static final Duration HEALTH_AGE = Duration.ofMillis(1_200);

  private static final Duration DEADLINE = Duration.ofSeconds(90);

  private CrashRound() {}

  /** Ends the server. */
  @FunctionalInterface
  interface Ending {
    void run() throws Exception;
  }

  /**
   * Lets clients work and ends the server meanwhile. The moment is chosen by progress, not by time,
   * so that slow machines test as much.
   */
  static void workUntil(ChangeWorkload workload, SplittableRandom random, Ending ending)
      throws Exception {
    long enough = workload.acknowledgements() + random.nextInt(1, CHANGES_MAX);
    Instant deadline = Instant.now().plus(DEADLINE);
    List<Thread> clients = workload.start(random.split());
    while (workload.acknowledgements() < enough
        && !workload.hasFailed()
        && Instant.now().isBefore(deadline)) {
      ServerProcess.pause(Duration.ofMillis(1));
    }
    ServerProcess.pause(Duration.ofNanos(random.nextInt(20_000_000)));
    ending.run();
    for (Thread client : clients) {
      client.join();
    }
    long missing = enough - workload.acknowledgements();
    assertTrue(
        missing <= 0 || workload.hasFailed(),
        missing + " changes were not acknowledged in " + DEADLINE);
  }

  static void awaitFolded(ServerProcess server) throws Exception {
    Await.until("all changes are folded", () -> value(server, "ashlar_blob_unfolded_changes") == 0);
  }

  static void awaitNothingOwed(ServerProcess server) throws Exception {
    ServerProcess.pause(HEALTH_AGE);
    Await.until(
        "what was found is looked at", () -> value(server, "ashlar_repair_suspect_shards") == 0);
    Await.until(
        "nothing is owed", () -> server.anyHealth().contains("\"known\":true,\"debtBlobs\":0,"));
  }

  private static double value(ServerProcess server, String metric) {
    return Metrics.of(server).value(metric);
  }
}
