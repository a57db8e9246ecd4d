package dev.ashlar.server.jobs;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** What is measured of the delivery of events. Unknown where another gateway delivers. */
final class DeliveryMeters {
  private final MeterRegistry registry;
  private final Supplier<@Nullable DeliveryState> state;
  private final Clock clock;
  private final Counter dropped;

  DeliveryMeters(MeterRegistry registry, Supplier<@Nullable DeliveryState> state, Clock clock) {
    this.registry = registry;
    this.state = state;
    this.clock = clock;
    this.dropped =
        Counter.builder("ashlar.events.dropped")
            .description("Events that no configuration of their bucket matched when they were read")
            .register(registry);
    gauge("ashlar.events.waiting", "Events that wait in the outbox", null, DeliveryState::waiting);
    gauge(
        "ashlar.events.lost",
        "Events that were not written because the outbox was full, since the store was created",
        null,
        DeliveryState::lost);
    gauge(
        "ashlar.events.oldest",
        "Age of the oldest event in the outbox",
        "seconds",
        known -> ageSeconds(known.oldestMs()));
    gauge(
        "ashlar.events.unknown",
        "Events at hand whose target is not configured; at most "
            + TargetDelivery.EVENTS_MAX
            + " are counted",
        null,
        DeliveryState::unknown);
  }

  private double ageSeconds(long timeMs) {
    return timeMs == 0 ? 0 : Math.max(0, clock.millis() - timeMs) / 1000.0;
  }

  private double known(ToDoubleFunction<DeliveryState> of) {
    DeliveryState known = state.get();
    return known == null ? Double.NaN : of.applyAsDouble(known);
  }

  private void gauge(
      String name, String description, @Nullable String unit, ToDoubleFunction<DeliveryState> of) {
    Gauge.builder(name, () -> known(of)).description(description).baseUnit(unit).register(registry);
  }

  void dropped() {
    dropped.increment();
  }

  /** What is counted of a target. */
  record OfTarget(Counter sent, Counter failed) {}

  OfTarget ofTarget(String arn) {
    Gauge.builder("ashlar.events.target.oldest", () -> known(now -> ageSeconds(now.oldestMs(arn))))
        .description("Age of the oldest event at hand that a target has not got; 0: it has all")
        .baseUnit("seconds")
        .tag("target", arn)
        .register(registry);
    return new OfTarget(
        Counter.builder("ashlar.events.sent")
            .description("Events that their target has acknowledged")
            .tag("target", arn)
            .register(registry),
        Counter.builder("ashlar.events.failures")
            .description("Attempts to send an event that failed")
            .tag("target", arn)
            .register(registry));
  }
}
