package dev.ashlar.gateway.http;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Collection;
import java.util.concurrent.atomic.LongAdder;

/** What the S3 port counts. */
final class HttpMetrics {
  private final LongAdder receivedBytes = new LongAdder();
  private final LongAdder sentBytes = new LongAdder();
  private final LongAdder rejectedRequests = new LongAdder();
  private final LongAdder malformedRequests = new LongAdder();

  HttpMetrics(MeterRegistry meters, ByteBudget budget, Collection<?> connections) {
    counter(meters, "ashlar.http.received.bytes", receivedBytes);
    counter(meters, "ashlar.http.sent.bytes", sentBytes);
    counter(meters, "ashlar.http.rejected", rejectedRequests);
    counter(meters, "ashlar.http.malformed", malformedRequests);
    Gauge.builder("ashlar.http.connections", connections, Collection::size).register(meters);
    Gauge.builder("ashlar.budget.reserved.bytes", budget, ByteBudget::reservedBytes)
        .register(meters);
    Gauge.builder("ashlar.budget.limit.bytes", budget, ByteBudget::limitBytes).register(meters);
  }

  private static void counter(MeterRegistry meters, String name, LongAdder value) {
    FunctionCounter.builder(name, value, LongAdder::sum).register(meters);
  }

  void received(long bytes) {
    receivedBytes.add(bytes);
  }

  void sent(long bytes) {
    sentBytes.add(bytes);
  }

  /** Answered SlowDown because too much is in flight. */
  void rejected() {
    rejectedRequests.increment();
  }

  /** Not HTTP as we understand it, or never finished. */
  void malformed() {
    malformedRequests.increment();
  }
}
