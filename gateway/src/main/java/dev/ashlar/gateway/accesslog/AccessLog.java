package dev.ashlar.gateway.accesslog;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.process.RateLimitedLog;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Lines of access logs that wait in bounded memory until they are delivered as objects. A request
 * never waits for that: without room, its line is dropped and counted. A bucket takes no more than
 * it leaves free, so that one whose lines cannot be delivered does not push out those of others.
 * Thread-safe.
 */
public final class AccessLog implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AccessLog.class);

  /** A stream with so many bytes is delivered at once. */
  static final int OBJECT_BYTES = 1 << 20;

  private static final int WAITING_BYTES_MAX = 16 << 20;

  /** What a stream takes beside its lines. */
  private static final int STREAM_BYTES = 2048;

  private static final Duration RETRY_PAUSE = Duration.ofSeconds(10);
  private static final Duration CLOSE_WAIT = Duration.ofSeconds(10);

  private final Delivery delivery;
  private final int waitingBytesMax;
  private final Counter delivered;
  private final Counter dropped;
  private final RateLimitedLog warnings = new RateLimitedLog(LOG, Level.WARN);
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private Map<LogStream, Lines> waiting = new LinkedHashMap<>();

  // Of lines that wait or are being delivered: of all buckets, and of each.
  private long bytes;
  private final Map<String, Long> bytesOfBuckets = new HashMap<>();
  private boolean isDue;
  private boolean closed;
  private @Nullable Thread thread;

  /** Makes an object of lines. */
  public interface Delivery {
    /**
     * @throws S3Exception if the object is refused
     * @throws UnavailableException if it may be possible later
     */
    void deliver(LogStream stream, byte[] lines)
        throws S3Exception, UnavailableException, InterruptedException;
  }

  /** Lines of one stream. */
  private static final class Lines {
    private final ByteArrayOutputStream text = new ByteArrayOutputStream();
    private int count;

    void add(byte[] more, int lines) {
      text.writeBytes(more);
      count += lines;
    }
  }

  public AccessLog(Delivery delivery, MeterRegistry meters) {
    this(delivery, meters, WAITING_BYTES_MAX);
  }

  AccessLog(Delivery delivery, MeterRegistry meters, int waitingBytesMax) {
    this.delivery = delivery;
    this.waitingBytesMax = waitingBytesMax;
    this.delivered =
        Counter.builder("ashlar.access.log.delivered")
            .description("Lines of access logs of buckets that were delivered")
            .register(meters);
    this.dropped =
        Counter.builder("ashlar.access.log.dropped")
            .description("Lines of access logs of buckets that were lost")
            .register(meters);
  }

  /** Adds lines. */
  public void add(LogStream stream, byte[] lines, int count) {
    if (!offer(stream, lines, count)) {
      drop(stream, count, "more wait than are delivered");
    }
  }

  private boolean offer(LogStream stream, byte[] lines, int count) {
    lock.lock();
    try {
      Lines present = waiting.get(stream);
      long more = present == null ? (long) STREAM_BYTES + lines.length : lines.length;
      long own = bytesOfBuckets.getOrDefault(stream.bucket(), 0L) + more;
      if (own > waitingBytesMax - (bytes + more)) {
        return false;
      }
      take(stream, more);
      if (present == null) {
        present = new Lines();
        waiting.put(stream, present);
      }
      int before = present.text.size();
      present.add(lines, count);
      if (before < OBJECT_BYTES && present.text.size() >= OBJECT_BYTES) {
        isDue = true;
        changed.signalAll();
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Delivers from now on, each time when this interval is over or a stream has enough for an
   * object.
   */
  public AccessLog start(Duration interval) {
    thread = Thread.ofPlatform().name("access-log").daemon().start(() -> run(interval));
    return this;
  }

  private void run(Duration interval) {
    try {
      while (awaitDue(interval)) {
        if (!deliver()) {
          awaitClose(RETRY_PAUSE);
        }
      }
      deliver();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Whether it goes on: false when it is closed. */
  private boolean awaitDue(Duration interval) throws InterruptedException {
    lock.lock();
    try {
      long left = interval.toNanos();
      while (!closed && !isDue && left > 0) {
        left = changed.awaitNanos(left);
      }
      isDue = false;
      return !closed;
    } finally {
      lock.unlock();
    }
  }

  private void awaitClose(Duration atMost) throws InterruptedException {
    lock.lock();
    try {
      long left = atMost.toNanos();
      while (!closed && left > 0) {
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Delivers what waits, by one thread at a time.
   *
   * @return whether nothing of it has to be tried again
   */
  public boolean deliver() throws InterruptedException {
    boolean isDone = true;
    for (Map.Entry<LogStream, Lines> each : take()) {
      isDone &= deliver(each.getKey(), each.getValue());
    }
    return isDone;
  }

  private List<Map.Entry<LogStream, Lines>> take() {
    lock.lock();
    try {
      List<Map.Entry<LogStream, Lines>> taken = new ArrayList<>(waiting.entrySet());
      waiting = new LinkedHashMap<>();
      return taken;
    } finally {
      lock.unlock();
    }
  }

  private boolean deliver(LogStream stream, Lines lines) throws InterruptedException {
    try {
      delivery.deliver(stream, lines.text.toByteArray());
      delivered.increment(lines.count);
    } catch (UnavailableException e) {
      putBack(stream, lines);
      return false;
    } catch (S3Exception e) {
      if (e.error().isUnserved()) {
        putBack(stream, lines);
        return false;
      }
      drop(stream, lines.count, e.error().code() + ": " + e.getMessage());
    } catch (RuntimeException e) {
      // A fault, which must not end all logs.
      drop(stream, lines.count, e.toString());
    }
    release(stream, STREAM_BYTES + lines.text.size());
    return true;
  }

  private void release(LogStream stream, long freed) {
    lock.lock();
    try {
      take(stream, -freed);
    } finally {
      lock.unlock();
    }
  }

  /** With the lock held; negative: gives back. */
  private void take(LogStream stream, long more) {
    bytes += more;
    bytesOfBuckets.merge(
        stream.bucket(), more, (before, change) -> before + change == 0 ? null : before + change);
  }

  /** For the next time, before what has come since. */
  private void putBack(LogStream stream, Lines lines) {
    lock.lock();
    try {
      Lines since = waiting.put(stream, lines);
      if (since != null) {
        lines.add(since.text.toByteArray(), since.count);
        take(stream, -STREAM_BYTES);
      }
    } finally {
      lock.unlock();
    }
  }

  private void drop(LogStream stream, int count, String why) {
    dropped.increment(count);
    warnings.log(
        "Lines of the access log of bucket "
            + stream.bucket()
            + " are lost, "
            + (long) dropped.count()
            + " of all buckets since the start. Target bucket "
            + stream.target().bucket()
            + ": "
            + why);
  }

  /** Delivers what waits, if that is possible now. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    Thread running = thread;
    try {
      if (running != null && !running.join(CLOSE_WAIT)) {
        running.interrupt();
        LOG.warn(
            "Access log delivery did not finish before the shutdown. The remaining lines are lost.");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
