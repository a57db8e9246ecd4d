package dev.ashlar.server.telemetry;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;

/** A collector that keeps what it takes. */
public final class Collector implements AutoCloseable {
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final HttpServer server;
  private final List<Received> spans = new CopyOnWriteArrayList<>();
  private final Map<String, Metric> metrics = new ConcurrentHashMap<>();
  private final List<String> authorizations = new CopyOnWriteArrayList<>();

  /** It answers nothing, ever. */
  public static final int SILENCE = 0;

  /** It answers the head of a 200, and never the body. */
  public static final int HEAD = 1;

  /** What it answers. */
  private volatile int status = 200;

  /** A span, and the process that it is of. */
  public record Received(String instance, Span span) {}

  public Collector() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext(
        "/v1/traces",
        exchange -> take(exchange, bytes -> traces(ExportTraceServiceRequest.parseFrom(bytes))));
    server.createContext(
        "/v1/metrics",
        exchange -> take(exchange, bytes -> metrics(ExportMetricsServiceRequest.parseFrom(bytes))));
    server.start();
  }

  private interface Take {
    void take(byte[] bytes) throws IOException;
  }

  private void take(HttpExchange exchange, Take how) throws IOException {
    int answer = status;
    try (exchange) {
      byte[] bytes = new GZIPInputStream(exchange.getRequestBody()).readAllBytes();
      authorizations.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
      if (answer == HEAD) {
        exchange.sendResponseHeaders(200, 10);
        exchange.getResponseBody().flush();
      }
      if (answer == HEAD || answer == SILENCE) {
        TimeUnit.MINUTES.sleep(5);
      }
      if (answer == 200) {
        how.take(bytes);
      }
      exchange.sendResponseHeaders(answer, -1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void traces(ExportTraceServiceRequest request) {
    for (var of : request.getResourceSpansList()) {
      String instance = instance(of.getResource());
      of.getScopeSpansList()
          .forEach(
              scope ->
                  scope.getSpansList().forEach(span -> spans.add(new Received(instance, span))));
    }
  }

  private void metrics(ExportMetricsServiceRequest request) {
    for (var of : request.getResourceMetricsList()) {
      String instance = instance(of.getResource());
      of.getScopeMetricsList()
          .forEach(
              scope ->
                  scope
                      .getMetricsList()
                      .forEach(metric -> metrics.put(instance + " " + metric.getName(), metric)));
    }
  }

  private static String instance(Resource resource) {
    return attribute(resource.getAttributesList(), "service.instance.id");
  }

  /** Empty: there is none of this name. */
  public static String attribute(List<KeyValue> attributes, String name) {
    return attributes.stream()
        .filter(each -> each.getKey().equals(name))
        .map(
            each ->
                each.getValue().hasIntValue()
                    ? "" + each.getValue().getIntValue()
                    : each.getValue().getStringValue())
        .findFirst()
        .orElse("");
  }

  public URI endpoint() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** From now on it answers this status, or {@link #SILENCE} or {@link #HEAD}. */
  public void answer(int newStatus) {
    status = newStatus;
  }

  public List<Received> spans() {
    return new ArrayList<>(spans);
  }

  /** By the process and their names. */
  public Map<String, Metric> metrics() {
    return metrics;
  }

  /** Of each request. */
  List<String> authorizations() {
    return authorizations;
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
