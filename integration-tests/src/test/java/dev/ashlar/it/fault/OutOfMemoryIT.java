package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Commands;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.RawConnection;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * The system gives a server under load no more memory: its heap cannot grow, threads cannot start,
 * native libraries cannot allocate. It ends there or goes on with errors. With enough memory it
 * starts again, and everything acknowledged is there.
 */
class OutOfMemoryIT {
  /** The heap begins small, so that it has to grow. */
  private static final String OPTIONS =
      ServerSpec.named("out-of-memory").javaOptions()
          + " -Xms16m -XX:-CreateCoredumpOnCrash -XX:ErrorFile=target/server-logs/out-of-memory-%p"
          + " -XX:ReplayDataFile=target/server-logs/out-of-memory-replay-%p";

  private static final int LONG_KEYS = 300;
  private static final int KEY_BYTES = 1_000;
  private static final int LISTINGS = 200;
  private static final int RECEIVE_BUFFER_BYTES = 4_096;

  /** How long a server that goes on does so. */
  private static final Duration STARVED = Duration.ofSeconds(5);

  private final SplittableRandom random = new SplittableRandom(Seeds.seed("OutOfMemoryIT"));

  @LongTest
  void everythingAcknowledgedIsThereAfterMemoryRanOut() throws Exception {
    assumeTrue(Commands.tried("prlimit", "--version").code() == 0, "prlimit is not installed");
    ServerSpec spec = ServerSpec.named("out-of-memory");
    List<RawConnection> listings = new ArrayList<>();
    try (ServerProcess server = ServerProcess.start(spec.withJavaOptions(OPTIONS))) {
      String listed = bucket(server, "listed");
      putLongKeys(server, listed);
      ChangeWorkload workload =
          new ChangeWorkload(
              server, bucket(server, "changes"), ChangeWorkload.Refusals.ALL_WITH_ERRORS);
      workload.putFirst();
      CrashRound.workUntil(workload, random, () -> starve(server, listed, listings));
      server.startWith(spec.javaOptions());
      Map<String, byte[]> objects = workload.checkAll(random);
      CrashRound.awaitFolded(server);
      CrashRound.awaitNothingOwed(server);
      workload.compare(objects, "folded");
    } finally {
      for (RawConnection each : listings) {
        each.close();
      }
    }
  }

  private static String bucket(ServerProcess server, String name) {
    try (S3Client s3 = Clients.sync(server)) {
      return Buckets.create(s3, name);
    }
  }

  private static void putLongKeys(ServerProcess server, String bucket) throws IOException {
    try (ChangeClient client = new ChangeClient(new RawConnection(server), bucket)) {
      for (int i = 0; i < LONG_KEYS; i++) {
        assertEquals(200, client.put("k".repeat(KEY_BYTES) + i, new byte[0]).status());
      }
    }
  }

  /** Takes care that the server notices, and ends it if it does not end itself. */
  private static void starve(ServerProcess server, String listed, List<RawConnection> listings)
      throws IOException {
    long bytes = dataBytes(server);
    Commands.run("prlimit", "--pid", "" + server.pid(), "--data=" + bytes + ":" + bytes);
    long end = System.nanoTime() + STARVED.toNanos();
    askForListings(server, listed, listings);
    while (server.isAlive() && System.nanoTime() < end) {
      ServerProcess.pause(Duration.ofMillis(10));
    }
    boolean hasEnded = !server.isAlive();
    server.kill();
    String log = server.log();
    System.out.println("the server " + (hasEnded ? "ended by itself" : "went on"));
    assertTrue(
        hasEnded || log.contains("OutOfMemory") || log.contains("Cannot allocate memory"),
        "memory did not run out\n" + log);
  }

  /** What counts for the limit: private memory that can be written. */
  private static long dataBytes(ServerProcess server) throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc", server.pid() + "", "status"))) {
      String line = lines.filter(each -> each.startsWith("VmData:")).findFirst().orElseThrow();
      return Long.parseLong(line.replaceAll("\\D", "")) << 10;
    }
  }

  /** Asks for listings and reads none of them, so that the server has to keep them. */
  private static void askForListings(
      ServerProcess server, String bucket, List<RawConnection> listings) {
    try {
      for (int i = 0; i < LISTINGS && server.isAlive(); i++) {
        RawConnection connection = new RawConnection(server, RECEIVE_BUFFER_BYTES);
        listings.add(connection);
        connection.send("GET", "/" + bucket, "list-type=2", new byte[0], Map.of());
      }
    } catch (IOException ended) {
      // The process is gone.
    }
  }
}
