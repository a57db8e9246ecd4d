package dev.ashlar.server.telemetry;

import io.micrometer.core.instrument.Clock;
import io.micrometer.registry.otlp.AggregationTemporality;
import io.micrometer.registry.otlp.HistogramFlavor;
import io.micrometer.registry.otlp.OtlpConfig;
import io.micrometer.registry.otlp.OtlpMeterRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The metrics as Micrometer sends them by OTLP; times are in seconds, as for Prometheus. */
final class MetricsExport {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private MetricsExport() {}

  /**
   * Sends the metrics from now on; the last ones when it is closed.
   *
   * @param described this process
   */
  static OtlpMeterRegistry start(
      OtlpSender sender, Duration interval, Map<String, String> described, Clock clock) {
    return OtlpMeterRegistry.builder(new Config(sender.url().toString(), interval, described))
        .clock(clock)
        .metricsSender(request -> sender.send(request.getMetricsData(), TIMEOUT))
        .build();
  }

  /**
   * Micrometer looks in the environment for what is not told here.
   *
   * @param url for its log
   */
  private record Config(String url, Duration step, Map<String, String> resourceAttributes)
      implements OtlpConfig {
    @Override
    public @Nullable String get(String key) {
      return null;
    }

    /** The sender has them, so that no message of Micrometer does. */
    @Override
    public Map<String, String> headers() {
      return Map.of();
    }

    @Override
    public AggregationTemporality aggregationTemporality() {
      return AggregationTemporality.CUMULATIVE;
    }

    @Override
    public HistogramFlavor histogramFlavor() {
      return HistogramFlavor.EXPLICIT_BUCKET_HISTOGRAM;
    }

    @Override
    public TimeUnit baseTimeUnit() {
      return TimeUnit.SECONDS;
    }
  }
}
