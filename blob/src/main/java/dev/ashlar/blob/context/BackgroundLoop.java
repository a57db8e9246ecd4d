package dev.ashlar.blob.context;

import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.process.BackgroundThread;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs a job again and again in a thread of its own, whatever fails, until it is closed. */
public final class BackgroundLoop implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(BackgroundLoop.class);

  private final String name;
  private final Rest rest;
  private @Nullable BackgroundThread thread;

  /** One round of the job. */
  public interface Round {
    /** Returns whether the next round follows at once. */
    boolean run() throws MetadataUnavailableException, InterruptedException;
  }

  /**
   * The pause after a round.
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
   * @param name of the job, as in "repair failed"
   */
  public BackgroundLoop(String name, Rest rest) {
    this.name = name;
    this.rest = rest;
  }

  public void start(Round round) {
    thread = BackgroundThread.start(name, () -> run(round));
  }

  private void run(Round round) throws InterruptedException {
    while (true) {
      long beganNanos = System.nanoTime();
      if (!tryRun(round)) {
        Thread.sleep(rest.after(System.nanoTime() - beganNanos));
      }
    }
  }

  private boolean tryRun(Round round) throws InterruptedException {
    try {
      return round.run();
    } catch (MetadataUnavailableException e) {
      LOG.debug("{} waits for metadata: {}", name, e.getMessage());
    } catch (RuntimeException e) {
      LOG.warn("{} failed and will be retried", name, e);
    }
    return false;
  }

  /** Ends the thread. */
  @Override
  public void close() {
    BackgroundThread running = thread;
    if (running != null) {
      running.close();
    }
  }
}
