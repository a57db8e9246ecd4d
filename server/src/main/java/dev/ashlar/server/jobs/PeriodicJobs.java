package dev.ashlar.server.jobs;

import dev.ashlar.protocol.client.MetadataUnavailableException;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs periodic jobs, each on a thread of its own, while it is the turn of this process. Two
 * processes may believe for a moment that it is theirs, so every job must be harmless if done
 * twice. A round that fails is logged, and the job continues after its interval. Jobs are platform
 * threads because they may block in native code.
 */
public final class PeriodicJobs implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PeriodicJobs.class);

  private final BooleanSupplier isItsTurn;
  private final MeterRegistry meters;
  private final List<Thread> threads = new CopyOnWriteArrayList<>();

  /** Sequential work in rounds. It remembers its position from one round to the next. */
  public interface Job {
    /**
     * Works for a while.
     *
     * @return the pause until the next round; zero if there is more to do
     */
    Duration run() throws MetadataUnavailableException, InterruptedException;

    /** Called instead of a round while it is another process's turn. */
    default void skip() {}
  }

  /**
   * @param isItsTurn whether this process does the jobs now
   */
  public PeriodicJobs(BooleanSupplier isItsTurn, MeterRegistry meters) {
    this.isItsTurn = isItsTurn;
    this.meters = meters;
  }

  /**
   * Runs the job until this is closed.
   *
   * @param first pause before the first round
   * @param interval pause after a failed round, and between checks whose turn it is
   */
  public void start(String name, Duration first, Duration interval, Job job) {
    threads.add(
        Thread.ofPlatform().name(name).daemon().start(() -> run(name, first, interval, job)));
  }

  private void run(String name, Duration first, Duration interval, Job job) {
    try {
      Thread.sleep(first);
      while (true) {
        Thread.sleep(round(name, interval, job));
      }
    } catch (InterruptedException e) {
      LOG.debug("Job {} ends.", name);
    }
  }

  private Duration round(String name, Duration interval, Job job) throws InterruptedException {
    if (!isItsTurn.getAsBoolean()) {
      job.skip();
      return interval;
    }
    long startedNanos = System.nanoTime();
    String outcome = "failed";
    try {
      Duration pause = job.run();
      outcome = "done";
      return pause;
    } catch (MetadataUnavailableException e) {
      outcome = "waiting";
      LOG.debug("Job {} waits for metadata: {}", name, e.getMessage());
    } catch (RuntimeException e) {
      LOG.warn("Job {} failed; it continues.", name, e);
    } finally {
      Timer.builder("ashlar.job.round")
          .description("Rounds of periodic jobs; waiting: metadata did not answer")
          .tag("job", name)
          .tag("outcome", outcome)
          .register(meters)
          .record(System.nanoTime() - startedNanos, TimeUnit.NANOSECONDS);
    }
    return interval;
  }

  /** Interrupts the jobs and waits until they have ended. */
  @Override
  public void close() {
    threads.forEach(Thread::interrupt);
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
