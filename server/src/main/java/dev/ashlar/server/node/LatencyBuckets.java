package dev.ashlar.server.node;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Set;
import java.util.stream.DoubleStream;

/** Gives timers whose quantiles operators want the buckets of a Prometheus histogram. */
@Singleton
final class LatencyBuckets implements MeterFilter {
  private static final Set<String> NAMES =
      Set.of("ashlar.s3.request.duration", "ashlar.metadata.commit.duration");

  /** From half a millisecond to ten seconds, in nanoseconds. */
  private static final double[] BOUNDS =
      DoubleStream.of(0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000)
          .map(millis -> millis * Duration.ofMillis(1).toNanos())
          .toArray();

  @Override
  public DistributionStatisticConfig configure(Meter.Id id, DistributionStatisticConfig config) {
    return NAMES.contains(id.getName())
        ? DistributionStatisticConfig.builder().serviceLevelObjectives(BOUNDS).build().merge(config)
        : config;
  }
}
