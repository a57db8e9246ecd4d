package dev.ashlar.server.telemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.Span;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class SpanExportTest {
  private final HttpClient http = HttpClient.newHttpClient();

  @AfterEach
  void close() {
    http.shutdownNow();
  }

  private SpanExport export(URI endpoint) throws Exception {
    return new SpanExport(
        new OtlpSender(http, endpoint, "/v1/traces", Map.of("Authorization", "Bearer of a test")),
        Resource.newBuilder()
            .addAttributes(OtlpTracer.attribute("service.instance.id", "one"))
            .build());
  }

  private static void add(SpanExport export, int count) {
    for (int i = 0; i < count; i++) {
      export.add(Span.newBuilder().setName("span " + i).build());
    }
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    while (!condition.getAsBoolean()) {
      Thread.sleep(5);
    }
  }

  @Test
  void spansArriveWithTheHeadersOfTheCollector() throws Exception {
    try (Collector collector = new Collector();
        SpanExport export = export(collector.endpoint())) {
      add(export, 3 * SpanExport.BATCH_MAX / 2);
      await(() -> export.sent() == 3 * SpanExport.BATCH_MAX / 2);
      assertEquals(3 * SpanExport.BATCH_MAX / 2, collector.spans().size());
      assertEquals("one", collector.spans().getFirst().instance());
      assertEquals("Bearer of a test", collector.authorizations().getFirst());
      assertEquals(0, export.dropped());
    }
  }

  @Test
  void whatTheCollectorDoesNotTakeNowItTakesLater() throws Exception {
    try (Collector collector = new Collector();
        SpanExport export = export(collector.endpoint())) {
      collector.answer(503);
      add(export, 10);
      await(() -> !collector.authorizations().isEmpty());
      collector.answer(200);
      await(() -> export.sent() == 10);
      assertEquals(10, collector.spans().size());
    }
  }

  @Test
  void whatTheCollectorRefusesIsDropped() throws Exception {
    try (Collector collector = new Collector();
        SpanExport export = export(collector.endpoint())) {
      collector.answer(400);
      add(export, 10);
      await(() -> export.dropped() == 10);
      assertEquals(1, collector.authorizations().size(), "it is not asked again");
    }
  }

  /** What waits is bounded, and so is the time that the end takes. */
  @ParameterizedTest
  @ValueSource(ints = {Collector.SILENCE, Collector.HEAD})
  void aCollectorThatHangsHoldsNobodyUp(int answer) throws Exception {
    try (Collector collector = new Collector()) {
      collector.answer(answer);
      SpanExport export = export(collector.endpoint());
      int count = 2 * SpanExport.WAITING_MAX;
      add(export, count);
      assertTrue(export.dropped() >= count - SpanExport.WAITING_MAX - SpanExport.BATCH_MAX);
      export.close();
      assertEquals(count, export.dropped());
    }
  }

  @Test
  void aCollectorThatIsNotThereHoldsNobodyUp() throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    SpanExport export = export(URI.create("http://127.0.0.1:" + port));
    add(export, 100);
    export.close();
    assertEquals(100, export.dropped());
  }

  @Test
  void whatWaitsIsSentAtTheEnd() throws Exception {
    try (Collector collector = new Collector()) {
      SpanExport export = export(collector.endpoint());
      add(export, 700);
      export.close();
      assertEquals(700, collector.spans().size());
      assertEquals(700, export.sent());
    }
  }
}
