package dev.ashlar.gateway.query;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Counts requests of IAM and STS beside those of S3, and measures their latency. */
public final class QueryMetrics {
  private final MeterRegistry registry;
  private final Set<String> actions;

  /**
   * @param actions that have counters of their own: other names come from clients and count as
   *     Invalid
   */
  public QueryMetrics(MeterRegistry registry, Set<String> actions) {
    this.registry = registry;
    this.actions = Set.copyOf(actions);
  }

  void record(String action, int status, long nanos) {
    String operation = actions.contains(action) ? action : "Invalid";
    Timer.builder("ashlar.s3.request.duration")
        .description("Time until the answer begins, of valid requests")
        .tag("operation", operation)
        .register(registry)
        .record(nanos, TimeUnit.NANOSECONDS);
    Counter.builder("ashlar.s3.requests")
        .description("Requests by operation and status")
        .tag("operation", operation)
        .tag("status", Integer.toString(status))
        .register(registry)
        .increment();
  }
}
