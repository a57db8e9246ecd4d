package dev.ashlar.blob.context;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.ToDoubleFunction;

/** Registers the engine's metrics. */
public final class Meters {
  private Meters() {}

  /**
   * @param tags keys and values in turn
   */
  public static Counter counter(
      MeterRegistry registry, String name, String description, String... tags) {
    return Counter.builder(name).description(description).tags(tags).register(registry);
  }

  public static Counter bytes(MeterRegistry registry, String name, String description) {
    return Counter.builder(name).baseUnit("bytes").description(description).register(registry);
  }

  /**
   * @param tags keys and values in turn
   */
  public static <T> void gauge(
      MeterRegistry registry,
      String name,
      String description,
      T source,
      ToDoubleFunction<T> value,
      String... tags) {
    Gauge.builder(name, source, value).description(description).tags(tags).register(registry);
  }
}
