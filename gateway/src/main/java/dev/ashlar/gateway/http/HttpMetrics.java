package dev.ashlar.gateway.http;

import dev.ashlar.protocol.memory.ByteBudget;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Collection;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntSupplier;

/** Metrics of the S3 port. */
final class HttpMetrics {
  final LongAdder receivedBytes = new LongAdder();
  final LongAdder sentBytes = new LongAdder();

  /** Answered SlowDown because too much is in progress. */
  final LongAdder rejectedRequests = new LongAdder();

  /** Closed because there are too many. */
  final LongAdder refusedConnections = new LongAdder();

  /** Not valid HTTP, or never finished. */
  final LongAdder malformedRequests = new LongAdder();

  /**
   * @param active how many requests are in progress
   */
  HttpMetrics(
      MeterRegistry meters, ByteBudget budget, Collection<?> connections, IntSupplier active) {
    counter(meters, "ashlar.http.received.bytes", receivedBytes, "Received from S3 clients");
    counter(meters, "ashlar.http.sent.bytes", sentBytes, "Sent to S3 clients");
    counter(
        meters,
        "ashlar.http.rejected",
        rejectedRequests,
        "Requests answered SlowDown because too many are in progress");
    counter(
        meters,
        "ashlar.http.refused.connections",
        refusedConnections,
        "Connections of S3 clients closed because too many are open");
    counter(
        meters,
        "ashlar.http.malformed",
        malformedRequests,
        "Requests that are not valid HTTP or never ended");
    Gauge.builder("ashlar.http.connections", connections, Collection::size)
        .description("Open connections of S3 clients")
        .register(meters);
    Gauge.builder("ashlar.http.active.requests", active, IntSupplier::getAsInt)
        .description("Requests in progress")
        .strongReference(true)
        .register(meters);
    Gauge.builder("ashlar.budget.reserved.bytes", budget, ByteBudget::reservedBytes)
        .description("Memory that bodies and unsent answers have reserved")
        .register(meters);
    Gauge.builder("ashlar.budget.limit.bytes", budget, ByteBudget::limitBytes)
        .description("Memory that bodies and unsent answers may reserve together")
        .register(meters);
  }

  private static void counter(
      MeterRegistry meters, String name, LongAdder value, String description) {
    FunctionCounter.builder(name, value, LongAdder::sum).description(description).register(meters);
  }
}
