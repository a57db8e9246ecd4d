package dev.ashlar.gateway.http;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs why requests were answered with a 503: for each error the first at once, then at most one
 * line per interval, with their number. Clients retry, so a line for each would flood the log.
 * Thread-safe.
 */
final class UnavailabilityLog {
  private static final Logger LOG = LoggerFactory.getLogger(UnavailabilityLog.class);
  static final Duration INTERVAL = Duration.ofSeconds(10);

  private final LongSupplier nanoTime;
  private final Map<S3Error, Unlogged> unlogged = new ConcurrentHashMap<>();

  /** Occurrences of an error since its last line. */
  private static final class Unlogged {
    final LongAdder count = new LongAdder();
    final AtomicLong nextNanos;

    Unlogged(long nowNanos) {
      nextNanos = new AtomicLong(nowNanos);
    }
  }

  /**
   * @param nanoTime as {@link System#nanoTime}
   */
  UnavailabilityLog(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /**
   * @param why whose cause, if any, is logged instead of the message for the client
   */
  void unserved(S3Exception why, String requestId) {
    long now = nanoTime.getAsLong();
    Unlogged same = unlogged.computeIfAbsent(why.error(), any -> new Unlogged(now));
    same.count.increment();
    long next = same.nextNanos.get();
    if (now - next >= 0 && same.nextNanos.compareAndSet(next, now + INTERVAL.toNanos())) {
      LOG.warn(
          "{} requests answered {} {}, the last one {}: {}",
          same.count.sumThenReset(),
          why.error().status(),
          why.error().code(),
          requestId,
          reason(why));
    }
  }

  private static String reason(S3Exception why) {
    Throwable cause = why.getCause();
    if (cause == null) {
      return String.valueOf(why.getMessage());
    }
    return cause.getMessage() == null ? cause.toString() : cause.getMessage();
  }
}
