package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.ServerProcess;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Threads that do steps of workloads until the server is gone. */
final class CrashClients {
  private static final int THREADS = 4;
  private static final Duration DEADLINE = Duration.ofSeconds(90);
  private static final int SERVICE_UNAVAILABLE = 503;

  private final List<? extends Workload> workloads;
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

  /** Requests to one bucket, of which it knows what they may lead to. */
  interface Workload {
    /** How many changes were acknowledged. */
    long acknowledgements();

    /** One request, or a few that belong together. */
    void step(int thread, SplittableRandom random);

    /** At rest: what is there is what was acknowledged; returns what it adds up to. */
    VersionClient.Usage checkAll();

    /** Ends what requests without an answer have begun. */
    void tidyUp();

    String bucket();
  }

  CrashClients(List<? extends Workload> workloads) {
    this.workloads = workloads;
  }

  private long acknowledgements() {
    return workloads.stream().mapToLong(Workload::acknowledgements).sum();
  }

  /**
   * Lets them work and ends the server meanwhile. The moment is chosen by progress, not by time, so
   * that slow machines test as much.
   */
  void workUntil(SplittableRandom random, int changesMax, CrashRound.Ending ending)
      throws Exception {
    long enough = acknowledgements() + random.nextInt(1, changesMax);
    Instant deadline = Instant.now().plus(DEADLINE);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      int thread = i;
      SplittableRandom own = random.split();
      threads.add(Thread.ofPlatform().name("client-" + i).start(() -> run(thread, own)));
    }
    while (acknowledgements() < enough && failures.isEmpty() && Instant.now().isBefore(deadline)) {
      ServerProcess.pause(Duration.ofMillis(1));
    }
    ServerProcess.pause(Duration.ofNanos(random.nextInt(10_000_000)));
    ending.run();
    for (Thread thread : threads) {
      thread.join();
    }
    for (Throwable failure : failures) {
      throw new AssertionError(failure);
    }
    long missing = enough - acknowledgements();
    assertTrue(missing <= 0, missing + " changes were not acknowledged in " + DEADLINE);
  }

  private void run(int thread, SplittableRandom random) {
    try {
      while (failures.isEmpty()) {
        workloads.get(random.nextInt(workloads.size())).step(thread, random);
      }
    } catch (SdkClientException gone) {
      // The server was ended: what was under way stays unanswered.
    } catch (S3Exception failure) {
      if (failure.statusCode() != SERVICE_UNAVAILABLE) {
        failures.add(failure);
      }
    } catch (RuntimeException | AssertionError wrong) {
      failures.add(wrong);
    }
  }
}
