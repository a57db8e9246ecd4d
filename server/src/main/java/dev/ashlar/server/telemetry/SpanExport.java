package dev.ashlar.server.telemetry;

import dev.ashlar.protocol.process.BackgroundThread;
import dev.ashlar.server.telemetry.OtlpSender.Outcome;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.InstrumentationScope;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends spans that have ended to the collector, many at a time, on a thread of its own. While the
 * collector does not take them, a bounded number waits and the rest is dropped: whoever ends a span
 * never waits.
 */
final class SpanExport implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SpanExport.class);
  static final int WAITING_MAX = 8192;
  static final int BATCH_MAX = 512;
  private static final Duration GATHER = Duration.ofSeconds(1);
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  /** For what waits when the process ends. */
  private static final Duration END_WAIT = Duration.ofSeconds(2);

  private static final long PAUSE_MS = 1_000;
  private static final long PAUSE_MS_MAX = 30_000;

  private final OtlpSender sender;
  private final Resource resource;
  private final BlockingQueue<Span> waiting = new ArrayBlockingQueue<>(WAITING_MAX);
  private final List<Span> batch = new ArrayList<>(BATCH_MAX);
  private final LongAdder sent = new LongAdder();
  private final LongAdder dropped = new LongAdder();
  private final BackgroundThread thread;

  /**
   * @param resource describes this process
   */
  SpanExport(OtlpSender sender, Resource resource) {
    this.sender = sender;
    this.resource = resource;
    thread = BackgroundThread.start("span-export", this::run);
  }

  /** Takes a span that has ended, or drops it. */
  void add(Span span) {
    if (!waiting.offer(span)) {
      dropped.increment();
    }
  }

  /** Spans that the collector has taken. */
  long sent() {
    return sent.sum();
  }

  /** Spans that it has not, and will not. */
  long dropped() {
    return dropped.sum();
  }

  private void run() throws InterruptedException {
    long pauseMs = PAUSE_MS;
    while (true) {
      if (batch.isEmpty()) {
        gather();
      }
      if (trySend() == Outcome.NOT_NOW) {
        TimeUnit.MILLISECONDS.sleep(pauseMs);
        pauseMs = Math.min(PAUSE_MS_MAX, 2 * pauseMs);
      } else {
        pauseMs = PAUSE_MS;
      }
    }
  }

  private Outcome trySend() throws InterruptedException {
    try {
      return send(TIMEOUT);
    } catch (RuntimeException e) {
      LOG.error("Sending {} spans failed; they are dropped.", batch.size(), e);
      dropped.add(batch.size());
      batch.clear();
      return Outcome.REFUSED;
    }
  }

  /** Waits for a first span, and then a little for more. */
  private void gather() throws InterruptedException {
    batch.add(waiting.take());
    long end = System.nanoTime() + GATHER.toNanos();
    while (batch.size() < BATCH_MAX) {
      Span next = waiting.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (next == null) {
        return;
      }
      batch.add(next);
    }
  }

  private Outcome send(Duration timeout) throws InterruptedException {
    Outcome outcome = sender.send(message(batch), timeout);
    switch (outcome) {
      case TAKEN -> sent.add(batch.size());
      case REFUSED -> dropped.add(batch.size());
      case NOT_NOW -> {
        return outcome;
      }
    }
    batch.clear();
    return outcome;
  }

  private byte[] message(List<Span> spans) {
    ScopeSpans scope =
        ScopeSpans.newBuilder()
            .setScope(InstrumentationScope.newBuilder().setName("dev.ashlar"))
            .addAllSpans(spans)
            .build();
    return ExportTraceServiceRequest.newBuilder()
        .addResourceSpans(ResourceSpans.newBuilder().setResource(resource).addScopeSpans(scope))
        .build()
        .toByteArray();
  }

  /** Sends what waits if the collector takes it at once. */
  @Override
  public void close() {
    thread.close();
    try {
      sendRest(System.nanoTime() + END_WAIT.toNanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      dropped.add(batch.size() + waiting.size());
    }
  }

  private void sendRest(long endNanos) throws InterruptedException {
    while (batch.size() + waiting.size() > 0) {
      waiting.drainTo(batch, BATCH_MAX - batch.size());
      long left = endNanos - System.nanoTime();
      if (left <= 0 || send(Duration.ofNanos(left)) == Outcome.NOT_NOW) {
        return;
      }
    }
  }
}
