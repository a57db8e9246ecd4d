package dev.ashlar.server.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.server.jobs.PeriodicJobs.Rest;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PeriodicJobsTest {
  private static final Duration INTERVAL = Duration.ofMillis(1);

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  private static void await(CountDownLatch latch) throws InterruptedException {
    assertTrue(latch.await(30, TimeUnit.SECONDS));
  }

  @Test
  void failedRoundsDoNotEndJob() throws Exception {
    AtomicInteger rounds = new AtomicInteger();
    CountDownLatch fourth = new CountDownLatch(4);
    try (PeriodicJobs jobs = new PeriodicJobs(() -> true, meters)) {
      jobs.start(
          "job",
          Duration.ZERO,
          Rest.of(INTERVAL),
          () -> {
            fourth.countDown();
            switch (rounds.incrementAndGet()) {
              case 1 -> throw new IllegalStateException("a bug");
              case 2 -> throw MetadataUnavailableException.refused("no leader");
              default -> {
                return false;
              }
            }
          },
          () -> {});
      await(fourth);
    }
    assertEquals(1, count("failed"));
    assertEquals(1, count("waiting"));
    assertTrue(count("done") >= 1);
    int ended = rounds.get();
    TimeUnit.MILLISECONDS.sleep(20);
    assertEquals(ended, rounds.get(), "closed");
  }

  private long count(String outcome) {
    return meters
        .get("ashlar.job.round")
        .tag("name", "job")
        .tag("outcome", outcome)
        .timer()
        .count();
  }

  @Test
  void jobIsSkippedWhileItIsTheTurnOfAnother() throws Exception {
    AtomicBoolean isItsTurn = new AtomicBoolean();
    CountDownLatch skipped = new CountDownLatch(2);
    CountDownLatch worked = new CountDownLatch(1);
    try (PeriodicJobs jobs = new PeriodicJobs(isItsTurn::get, meters)) {
      jobs.start(
          "job",
          Duration.ZERO,
          Rest.of(INTERVAL),
          () -> {
            assertTrue(isItsTurn.get());
            worked.countDown();
            return false;
          },
          skipped::countDown);
      await(skipped);
      assertEquals(1, worked.getCount());
      isItsTurn.set(true);
      await(worked);
    }
  }
}
