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
 * Says why requests were told to try again: of each error the first at once, and then one per
 * interval, with how many there were. Clients do try again, so one line for each would be a flood.
 * For any thread.
 */
final class UnavailabilityLog {
  private static final Logger LOG = LoggerFactory.getLogger(UnavailabilityLog.class);
  static final Duration INTERVAL = Duration.ofSeconds(10);

  private final LongSupplier nanoTime;
  private final Map<S3Error, Unsaid> unsaid = new ConcurrentHashMap<>();

  /** What there was of an error since its last line. */
  private static final class Unsaid {
    final LongAdder count = new LongAdder();
    final AtomicLong nextNanos;

    Unsaid(long nowNanos) {
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
   * @param why its cause, if it has one, is more to the point than what the client is told
   */
  void unserved(S3Exception why, String requestId) {
    long now = nanoTime.getAsLong();
    Unsaid same = unsaid.computeIfAbsent(why.error(), any -> new Unsaid(now));
    same.count.increment();
    long next = same.nextNanos.get();
    if (now - next >= 0 && same.nextNanos.compareAndSet(next, now + INTERVAL.toNanos())) {
      LOG.warn(
          "{} x {} {}, the last for request {}: {}",
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
