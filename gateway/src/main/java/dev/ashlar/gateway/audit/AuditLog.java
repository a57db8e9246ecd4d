package dev.ashlar.gateway.audit;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ashlar.protocol.process.RateLimitedLog;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Tells of each request in one line of JSON. Lines wait in a bounded queue for the thread that
 * writes them. If that does not keep up, requests wait for it at their end, for a bounded time;
 * then lines are dropped, and counted, until it writes again. Thread-safe.
 */
public final class AuditLog implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AuditLog.class);
  private static final int QUEUE_BYTES_MAX = 4 << 20;

  /** Lines of a request that has many of them go to the queue in pieces of about this size. */
  private static final int PIECE_CHARACTERS = 32 << 10;

  private static final Duration WAIT_MAX = Duration.ofSeconds(1);
  private static final Duration CLOSE_WAIT = Duration.ofSeconds(5);

  private final AuditOutput output;
  private final @Nullable String node;
  private final int queueBytesMax;
  private final long waitMaxNanos;
  private final RateLimitedLog warnings = new RateLimitedLog(LOG, Level.WARN);
  private final LongAdder dropped = new LongAdder();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private final Condition emptied = lock.newCondition();
  private final ArrayDeque<Lines> queue = new ArrayDeque<>();
  private long queuedBytes;
  // Somebody has waited in vain; nobody else does until lines are taken again.
  private boolean stalled;
  private boolean closed;
  private final Thread writer;

  private record Lines(byte[] bytes, int count) {}

  /**
   * Writes to a file.
   *
   * @param node name of the process in the lines; null: none
   * @throws IOException when it cannot be opened
   */
  public static AuditLog toFile(Path file, @Nullable String node) throws IOException {
    return new AuditLog(AuditOutput.ofFile(file), node, QUEUE_BYTES_MAX, WAIT_MAX);
  }

  /** Writes to the standard output. */
  public static AuditLog toStdout(@Nullable String node) {
    return new AuditLog(AuditOutput.ofStdout(), node, QUEUE_BYTES_MAX, WAIT_MAX);
  }

  AuditLog(AuditOutput output, @Nullable String node, int queueBytesMax, Duration waitMax) {
    this.output = output;
    this.node = node;
    this.queueBytesMax = queueBytesMax;
    this.waitMaxNanos = waitMax.toNanos();
    writer = Thread.ofPlatform().name("audit-log").daemon().start(this::run);
  }

  /** Lines that were not written. */
  public long dropped() {
    return dropped.sum();
  }

  /** Adds the lines of a request that has ended. */
  public void write(AuditEvent event) {
    if (!event.isComplete()) {
      return;
    }
    StringBuilder piece = new StringBuilder();
    int count = 0;
    for (Iterator<String> each = event.lines(node, System.nanoTime()).iterator();
        each.hasNext(); ) {
      piece.append(each.next());
      count++;
      if (piece.length() >= PIECE_CHARACTERS || !each.hasNext()) {
        if (!offer(new Lines(piece.toString().getBytes(UTF_8), count))) {
          drop(count, "it is not written as fast as requests end");
        }
        piece.setLength(0);
        count = 0;
      }
    }
  }

  private void drop(int count, String why) {
    dropped.add(count);
    warnings.log("Lines of the audit log are lost, " + dropped() + " since the start: " + why);
  }

  private boolean offer(Lines lines) {
    lock.lock();
    try {
      if (closed || !awaitRoom(lines)) {
        return false;
      }
      queue.add(lines);
      queuedBytes += lines.bytes.length;
      filled.signal();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** An empty queue takes a piece of any size. */
  private boolean hasRoom(Lines lines) {
    return queuedBytes == 0 || queuedBytes + lines.bytes.length <= queueBytesMax;
  }

  private boolean awaitRoom(Lines lines) {
    long left = waitMaxNanos;
    while (!hasRoom(lines)) {
      if (stalled || left <= 0) {
        stalled = true;
        emptied.signalAll();
        return false;
      }
      try {
        left = emptied.awaitNanos(left);
      } catch (InterruptedException e) {
        // Only this thread is in a hurry: the others go on waiting.
        Thread.currentThread().interrupt();
        return false;
      }
      if (closed) {
        return false;
      }
    }
    return true;
  }

  private void run() {
    ByteArrayOutputStream batch = new ByteArrayOutputStream();
    for (int count = take(batch); count > 0; count = take(batch)) {
      try {
        output.write(batch.toByteArray());
      } catch (IOException e) {
        drop(count, String.valueOf(e.getMessage()));
      } catch (RuntimeException e) {
        // A fault, which must not end the log for good.
        drop(count, e.toString());
      }
    }
    try {
      output.close();
    } catch (IOException e) {
      LOG.warn("The audit log did not close cleanly: {}", e.getMessage());
    }
  }

  /** Waits for lines and takes all of them; none are left when it returns 0. */
  private int take(ByteArrayOutputStream batch) {
    batch.reset();
    int count = 0;
    lock.lock();
    try {
      while (queue.isEmpty() && !closed) {
        filled.awaitUninterruptibly();
      }
      for (Lines lines = queue.poll(); lines != null; lines = queue.poll()) {
        batch.writeBytes(lines.bytes);
        count += lines.count;
      }
      queuedBytes = 0;
      stalled = false;
      emptied.signalAll();
      return count;
    } finally {
      lock.unlock();
    }
  }

  /** Writes what waits; gives up on an output that does not take it. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      filled.signalAll();
      emptied.signalAll();
    } finally {
      lock.unlock();
    }
    try {
      if (!writer.join(CLOSE_WAIT)) {
        LOG.warn("The audit log did not take its last lines in time.");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
