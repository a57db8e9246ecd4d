package dev.ashlar.server.telemetry;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.trace.Tracer;
import dev.ashlar.server.config.BuildVersion;
import dev.ashlar.server.config.ClusterOptions;
import dev.ashlar.server.config.OtelVariables;
import dev.ashlar.server.config.ServerOptions;
import dev.ashlar.server.config.TelemetryOptions;
import dev.ashlar.transport.client.RemoteShardStore;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.registry.otlp.OtlpMeterRegistry;
import io.opentelemetry.proto.resource.v1.Resource;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What this process tells a collector. Without one, or without traces, whatever is to be traced is
 * returned as it is, and so costs nothing.
 */
public final class Telemetry implements AutoCloseable {
  private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");

  private final @Nullable HttpClient http;
  private final @Nullable SpanExport spans;
  private final @Nullable Tracer tracer;
  private final @Nullable CompositeMeterRegistry all;
  private final @Nullable OtlpMeterRegistry exported;

  private Telemetry(TelemetryOptions options, Map<String, String> described, MeterRegistry meters)
      throws IOException {
    URI endpoint = options.endpoint();
    if (endpoint == null) {
      http = null;
      spans = null;
      tracer = null;
      all = null;
      exported = null;
      return;
    }
    Map<String, String> headers = OtelVariables.headers(options.headersFile(), System.getenv());
    HttpClient client = OtlpSender.client(options.authorities());
    http = client;
    Double ratio = options.traceRatio();
    spans =
        ratio == null
            ? null
            : new SpanExport(
                new OtlpSender(client, endpoint, "/v1/traces", headers), resource(described));
    tracer = ratio == null || spans == null ? null : new OtlpTracer(ratio, spans::add);
    boolean isExported = !options.metricsInterval().isZero();
    all = isExported && meters instanceof CompositeMeterRegistry composite ? composite : null;
    exported =
        all == null
            ? null
            : MetricsExport.start(
                new OtlpSender(client, endpoint, "/v1/metrics", headers),
                options.metricsInterval(),
                described,
                Clock.SYSTEM);
    if (all != null && exported != null) {
      all.add(exported);
    }
  }

  /**
   * @param meters that a collector is told of, if these are several registries in one
   * @throws IOException naming the file that cannot be used
   */
  public static Telemetry open(ServerOptions options, MeterRegistry meters) throws IOException {
    Telemetry opened = new Telemetry(options.telemetry(), described(options), meters);
    SpanExport spans = opened.spans;
    FunctionCounter.builder(
            "ashlar.trace.sent.spans", meters, any -> spans == null ? 0 : spans.sent())
        .description("Spans that the collector has taken")
        .register(meters);
    FunctionCounter.builder(
            "ashlar.trace.dropped.spans", meters, any -> spans == null ? 0 : spans.dropped())
        .description("Spans dropped because the collector has not taken them, or not fast enough")
        .register(meters);
    return opened;
  }

  /** This process, by names of OpenTelemetry's conventions. */
  private static Map<String, String> described(ServerOptions options) throws IOException {
    String host = Files.isReadable(HOST_NAME) ? Files.readString(HOST_NAME).strip() : "localhost";
    ClusterOptions cluster = options.cluster();
    Map<String, String> described = new LinkedHashMap<>();
    described.put("host.name", host);
    described.put(
        "service.instance.id",
        cluster == null
            ? host + ":" + options.service().listen().getFirst().endpoint().port()
            : cluster.node());
    if (cluster != null) {
      described.put("service.namespace", cluster.name());
    }
    BuildVersion.number().ifPresent(version -> described.put("service.version", version));
    described.putAll(OtelVariables.resourceAttributes(System.getenv()));
    described.put("service.name", options.telemetry().service());
    return described;
  }

  private static Resource resource(Map<String, String> described) {
    Resource.Builder resource = Resource.newBuilder();
    described.forEach((name, value) -> resource.addAttributes(OtlpTracer.attribute(name, value)));
    return resource.build();
  }

  /** Null: nothing is traced. */
  public @Nullable Tracer tracer() {
    return tracer;
  }

  /**
   * Metadata as requests use it.
   *
   * @param kind whether it is in another process
   */
  public MetadataClient metadata(MetadataClient client, Tracer.Kind kind) {
    Tracer spansOf = tracer;
    return spansOf == null ? client : TracedMetadata.of(client, spansOf, kind);
  }

  /** Drives as requests use them. */
  public Function<UUID, @Nullable ShardStore> drives(Function<UUID, @Nullable ShardStore> drives) {
    Tracer spansOf = tracer;
    if (spansOf == null) {
      return drives;
    }
    return id -> {
      ShardStore store = drives.apply(id);
      return store == null ? null : traced(store, spansOf);
    };
  }

  private static ShardStore traced(ShardStore store, Tracer tracer) {
    boolean isRemote = store instanceof RemoteShardStore;
    return new TracedShardStore(
        store, tracer, isRemote ? Tracer.Kind.CLIENT : Tracer.Kind.INTERNAL);
  }

  /** A drive as it is served to other processes. */
  public ShardStore served(ShardStore store) {
    Tracer spansOf = tracer;
    return spansOf == null ? store : new TracedShardStore(store, spansOf, Tracer.Kind.SERVER);
  }

  /** Sends what the collector has not been told yet, if it takes that soon. */
  @Override
  public void close() {
    if (all != null && exported != null) {
      exported.close();
      all.remove(exported);
    }
    if (spans != null) {
      spans.close();
    }
    if (http != null) {
      http.shutdownNow();
    }
  }
}
