package dev.ashlar.server.config;

import static dev.ashlar.server.config.OptionTypes.require;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** Metrics and traces for a collector of OpenTelemetry. */
public final class TelemetryOptions {
  @Option(
      names = "--otlp-endpoint",
      paramLabel = "URL",
      showDefaultValue = Visibility.NEVER,
      description =
          "Collector that metrics and traces are sent to, by OTLP over HTTP, as"
              + " http://collector:4318. Default: none.")
  private @Nullable URI endpoint;

  @Option(
      names = "--otlp-headers-file",
      paramLabel = "FILE",
      showDefaultValue = Visibility.NEVER,
      description =
          "File with headers for the collector, such as its authorization: lines NAME=VALUE.")
  private @Nullable Path headersFile;

  @Option(
      names = "--otlp-ca",
      paramLabel = "FILE",
      showDefaultValue = Visibility.NEVER,
      description =
          "Certificate authorities of the collector, in PEM. Default: those that Java trusts.")
  private @Nullable Path authorities;

  @Option(
      names = "--otlp-service",
      paramLabel = "NAME",
      defaultValue = "ashlar",
      description = "Name of this store at the collector: service.name.")
  private String service = "";

  @Option(
      names = "--otlp-metrics-interval",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description = "Time between two exports of the metrics. 0: only traces are sent.")
  private int metricsSeconds;

  @Option(
      names = "--trace-ratio",
      paramLabel = "RATIO",
      showDefaultValue = Visibility.NEVER,
      description =
          "Share of S3 requests that are traced, 0 to 1. Where a client sends a traceparent, that"
              + " decides. In a cluster, give it to all processes. Default: nothing is traced.")
  private @Nullable Double traceRatio;

  void check() {
    URI url = endpoint;
    require(
        url == null || isPlain(url), "--otlp-endpoint takes http://HOST:PORT or https://HOST:PORT");
    require(!service.isBlank(), "--otlp-service takes a name");
    require(
        metricsSeconds >= 0 && metricsSeconds <= Duration.ofDays(1).toSeconds(),
        "--otlp-metrics-interval takes 0 to %s, not %s",
        Duration.ofDays(1).toSeconds(),
        metricsSeconds);
    Double ratio = traceRatio;
    require(
        ratio == null || (ratio >= 0 && ratio <= 1),
        "--trace-ratio takes 0 to 1, not %s",
        String.valueOf(ratio));
    require(ratio == null || url != null, "--trace-ratio needs an --otlp-endpoint");
  }

  /** A name and a password in it would be shown with the other options. */
  static boolean isPlain(URI url) {
    boolean isHttp = "http".equalsIgnoreCase(url.getScheme());
    return (isHttp || "https".equalsIgnoreCase(url.getScheme()))
        && url.getHost() != null
        && url.getUserInfo() == null
        && url.getQuery() == null
        && url.getFragment() == null;
  }

  /** Where the collector is; null: there is none. */
  public @Nullable URI endpoint() {
    return endpoint;
  }

  /** File with headers for it; null: none is given. */
  public @Nullable Path headersFile() {
    return headersFile;
  }

  /** File with its authorities; null: those that Java trusts. */
  public @Nullable Path authorities() {
    return authorities;
  }

  public String service() {
    return service;
  }

  /** From one export of the metrics to the next; zero: they are not exported. */
  public Duration metricsInterval() {
    return Duration.ofSeconds(metricsSeconds);
  }

  /** The share of requests that begin a sampled trace; null: nothing is traced. */
  public @Nullable Double traceRatio() {
    return traceRatio;
  }
}
