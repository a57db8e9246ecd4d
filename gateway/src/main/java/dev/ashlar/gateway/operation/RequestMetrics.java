package dev.ashlar.gateway.operation;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** Counts requests by operation and status and measures their latency. */
final class RequestMetrics {
  private static final int STATUS_MAX = 599;

  private final MeterRegistry registry;
  private final Map<String, OperationMeters> operations = new ConcurrentHashMap<>();

  RequestMetrics(MeterRegistry registry) {
    this.registry = registry;
  }

  /**
   * @param operation as the metrics call it
   */
  void record(String operation, int status, long nanos) {
    OperationMeters meters = operations.get(operation);
    if (meters == null) {
      meters = operations.computeIfAbsent(operation, name -> new OperationMeters(registry, name));
    }
    meters.record(status, nanos);
  }

  /** Counts a request that is malformed or asks for an operation that does not exist. */
  void recordInvalid(int status) {
    record("Invalid", status, 0);
  }

  private static final class OperationMeters {
    private final MeterRegistry registry;
    private final String operation;
    private final Timer latency;
    private final AtomicReferenceArray<Counter> byStatus =
        new AtomicReferenceArray<>(STATUS_MAX + 1);

    OperationMeters(MeterRegistry registry, String operation) {
      this.registry = registry;
      this.operation = operation;
      this.latency =
          Timer.builder("ashlar.s3.request.duration")
              .description("Time until the answer begins, of valid requests")
              .tag("operation", operation)
              .register(registry);
    }

    void record(int status, long nanos) {
      latency.record(nanos, TimeUnit.NANOSECONDS);
      Counter counter = byStatus.get(status);
      if (counter == null) {
        counter =
            Counter.builder("ashlar.s3.requests")
                .description("Requests by operation and status")
                .tag("operation", operation)
                .tag("status", Integer.toString(status))
                .register(registry);
        byStatus.set(status, counter);
      }
      counter.increment();
    }
  }
}
