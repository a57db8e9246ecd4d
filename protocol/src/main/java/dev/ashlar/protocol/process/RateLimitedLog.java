package dev.ashlar.protocol.process;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
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
  private final LongSupplier nanoTime;
  private final AtomicLong nextNanos;
  private final AtomicLong left = new AtomicLong();
  private final AtomicLong logged = new AtomicLong();

  /**
   * @param level of all its lines
   */
  public RateLimitedLog(Logger log, Level level) {
    this(log, level, System::nanoTime);
  }

  RateLimitedLog(Logger log, Level level, LongSupplier nanoTime) {
    this.log = log;
    this.level = level;
    this.nanoTime = nanoTime;
    this.nextNanos = new AtomicLong(nanoTime.getAsLong());
  }

  /** Logs the message unless another one was logged within the period. */
  public void log(String message) {
    log(message, null);
  }

  /**
   * The same with a stack trace.
   *
   * @param cause null: there is none
   */
  public void log(String message, @Nullable Throwable cause) {
    long now = nanoTime.getAsLong();
    long next = nextNanos.get();
    if (now - next >= 0 && nextNanos.compareAndSet(next, now + PERIOD_NANOS)) {
      long more = left.getAndSet(0);
      logged.incrementAndGet();
      String before = more == 0 ? "" : " (and " + more + " similar events before)";
      log.atLevel(level).setCause(cause).log("{}{}", message, before);
    } else {
      left.incrementAndGet();
    }
  }

  /** How many lines were logged. */
  public long logged() {
    return logged.get();
  }
}
