package dev.ashlar.server.cluster;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Gauges of parts of something that is not known at times: then they are NaN.
 *
 * @param now null: not known
 */
record KnownGauges<T extends @Nullable Object>(
    String prefix, Supplier<@Nullable T> now, MeterRegistry meters) {
  /**
   * @param part null: this part is not known
   */
  void add(String name, String description, Function<T, @Nullable Number> part, String... tags) {
    Gauge.builder(
            prefix + name,
            () -> {
              T known = now.get();
              Number value = known == null ? null : part.apply(known);
              return value == null ? Double.NaN : value.doubleValue();
            })
        .description(description)
        .tags(tags)
        .register(meters);
  }
}
