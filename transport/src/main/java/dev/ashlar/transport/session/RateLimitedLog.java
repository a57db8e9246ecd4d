package dev.ashlar.transport.session;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/** What somebody else can cause as often as he likes: a few of it, and how many more. */
public final class RateLimitedLog {
  private static final long PERIOD_NANOS = Duration.ofSeconds(10).toNanos();

  private final Logger log;
  private final AtomicLong nextNanos = new AtomicLong(System.nanoTime());
  private final AtomicLong left = new AtomicLong();
  private final AtomicLong logged = new AtomicLong();

  public RateLimitedLog(Logger log) {
    this.log = log;
  }

  /** Logs it, unless that was done a short while ago. */
  public void warn(String message) {
    log(Level.WARN, message);
  }

  /** The same of what is no reason to worry. */
  public void info(String message) {
    log(Level.INFO, message);
  }

  private void log(Level level, String message) {
    long now = System.nanoTime();
    long next = nextNanos.get();
    if (now - next >= 0 && nextNanos.compareAndSet(next, now + PERIOD_NANOS)) {
      long more = left.getAndSet(0);
      logged.incrementAndGet();
      String before = more == 0 ? "" : " (and " + more + " more before)";
      log.atLevel(level).log("{}{}", message, before);
    } else {
      left.incrementAndGet();
    }
  }

  /** How often it has logged. */
  public long logged() {
    return logged.get();
  }
}
