package dev.ashlar.server.node;

import dev.ashlar.protocol.process.RateLimitedLog;
import dev.ashlar.server.config.ServerOptions;
import dev.ashlar.transport.tls.PortTls;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** TLS of the S3 port and the management port. */
final class ServedTls {
  private static final Logger LOG = LoggerFactory.getLogger(ServedTls.class);

  private ServedTls() {}

  /**
   * Null without certificates.
   *
   * @throws IOException naming the file that is wrong
   */
  static @Nullable PortTls open(
      ServerOptions options, CloseStack opened, MeterRegistry meters, Clock clock)
      throws IOException {
    if (options.certificates().isEmpty()) {
      return null;
    }
    RateLimitedLog refusals = new RateLimitedLog(LOG, Level.INFO);
    PortTls tls = opened.add(PortTls.open(options.certificates(), clock, refusals::log));
    validity("ashlar.tls.valid", tls, PortTls::validUntil, clock)
        .description(
            "Time until the first certificate of the S3 port and the management port expires")
        .register(meters);
    return tls;
  }

  /** A metric of the remaining validity. */
  static <T> TimeGauge.Builder<T> validity(
      String name, T tls, Function<T, Instant> validUntil, Clock clock) {
    return TimeGauge.builder(
        name,
        tls,
        TimeUnit.SECONDS,
        known -> Duration.between(clock.instant(), validUntil.apply(known)).toSeconds());
  }
}
