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
    /** Works for a while; returns whether there is more to do at once. */
    boolean run() throws MetadataUnavailableException, InterruptedException;
  }

  /**
   * The pause after a round, and between checks whose turn it is.
   *
   * @param factor how many times as long as the round it is, within the limits
   */
  public record Rest(Duration min, int factor, Duration max) {
    public static Rest of(Duration pause) {
      return new Rest(pause, 0, pause);
    }

    private Duration after(long roundNanos) {
      Duration byRound = Duration.ofNanos(factor * roundNanos);
      Duration limited = byRound.compareTo(max) < 0 ? byRound : max;
      return limited.compareTo(min) > 0 ? limited : min;
    }
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
   * @param skip called instead of a round while it is another process's turn
   */
  public void start(String name, Duration first, Rest rest, Job job, Runnable skip) {
    threads.add(
        Thread.ofPlatform().name(name).daemon().start(() -> run(name, first, rest, job, skip)));
  }

  private void run(String name, Duration first, Rest rest, Job job, Runnable skip) {
    try {
      Thread.sleep(first);
      while (true) {
        long startedNanos = System.nanoTime();
        boolean isMore = false;
        if (isItsTurn.getAsBoolean()) {
          isMore = round(name, job);
        } else {
          skip.run();
        }
        Thread.sleep(isMore ? Duration.ZERO : rest.after(System.nanoTime() - startedNanos));
      }
    } catch (InterruptedException e) {
      LOG.debug("Job {} ends.", name);
    }
  }

  private boolean round(String name, Job job) throws InterruptedException {
    long startedNanos = System.nanoTime();
    String outcome = "failed";
    try {
      boolean isMore = job.run();
      outcome = "done";
      return isMore;
    } catch (MetadataUnavailableException e) {
      outcome = "waiting";
      LOG.debug("Job {} waits for metadata: {}", name, e.getMessage());
    } catch (RuntimeException e) {
      LOG.warn("Job {} failed; it continues.", name, e);
    } finally {
      Timer.builder("ashlar.job.round")
          .description("Rounds of periodic jobs; waiting: metadata did not answer")
          .tag("name", name)
          .tag("outcome", outcome)
          .register(meters)
          .record(System.nanoTime() - startedNanos, TimeUnit.NANOSECONDS);
    }
    return false;
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
