package dev.ashlar.transport.session;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/**
 * Logs events of one kind that others can cause at any rate: one line per period, with a count of
 * the rest. Each kind has its own, so that frequent events do not hide serious ones.
 */
public final class RateLimitedLog {
  private static final long PERIOD_NANOS = Duration.ofSeconds(10).toNanos();

  private final Logger log;
  private final Level level;
  private final AtomicLong nextNanos = new AtomicLong(System.nanoTime());
  private final AtomicLong left = new AtomicLong();
  private final AtomicLong logged = new AtomicLong();

  /**
   * @param level of all its lines
   */
  public RateLimitedLog(Logger log, Level level) {
    this.log = log;
    this.level = level;
  }

  /** Logs the message unless another one was logged within the period. */
  public void log(String message) {
    long now = System.nanoTime();
    long next = nextNanos.get();
    if (now - next >= 0 && nextNanos.compareAndSet(next, now + PERIOD_NANOS)) {
      long more = left.getAndSet(0);
      logged.incrementAndGet();
      String before = more == 0 ? "" : " (and " + more + " similar events before)";
      log.atLevel(level).log("{}{}", message, before);
    } else {
      left.incrementAndGet();
    }
  }

  /** How many lines were logged. */
  public long logged() {
    return logged.get();
  }
}
