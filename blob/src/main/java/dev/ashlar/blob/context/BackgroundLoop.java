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
  private final Duration pause;
  private @Nullable BackgroundThread thread;

  /** One round of the job. */
  public interface Round {
    void run() throws MetadataUnavailableException, InterruptedException;
  }

  /**
   * @param name of the job, as in "fold failed"
   * @param pause after each round
   */
  public BackgroundLoop(String name, Duration pause) {
    this.name = name;
    this.pause = pause;
  }

  public void start(Round round) {
    thread = BackgroundThread.start(name, () -> run(round));
  }

  private void run(Round round) throws InterruptedException {
    while (true) {
      try {
        round.run();
      } catch (MetadataUnavailableException e) {
        LOG.debug("{} waits for metadata: {}", name, e.getMessage());
      } catch (RuntimeException e) {
        LOG.warn("{} failed and will be retried", name, e);
      }
      Thread.sleep(pause);
    }
  }

  /** Ends the thread. */
  @Override
  public void close() {
    BackgroundThread.closeIfStarted(thread);
  }
}
