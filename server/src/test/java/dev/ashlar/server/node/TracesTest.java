package dev.ashlar.server.node;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.server.cli.RehearsalClient;
import dev.ashlar.server.config.ServerOptions;
import dev.ashlar.server.telemetry.Collector;
import dev.ashlar.server.telemetry.Collector.Received;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Span.SpanKind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a collector is told by a gateway, and by a node with drives and metadata, of one request.
 */
@Timeout(120)
class TracesTest {
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final String GATEWAY = "gateway";
  private static final String STORAGE = "storage";
  private static final byte[] CONTENT = new byte[1_000_000];

  static {
    new Random(7).nextBytes(CONTENT);
  }

  @TempDir private Path root;
  private final CloseStack opened = new CloseStack();
  private Collector collector;
  private RehearsalClient s3;

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** As Micronaut makes it: of several registries. */
  private static CompositeMeterRegistry meters() {
    CompositeMeterRegistry meters = new CompositeMeterRegistry();
    meters.add(new SimpleMeterRegistry());
    return meters;
  }

  private void start(String node, String... more) throws Exception {
    List<String> arguments = new ArrayList<>(List.of(more));
    arguments.addAll(
        List.of(
            "--cluster=traces",
            "--node=" + node,
            "--host=127.0.0.1",
            "--expect-drives=3",
            "--profile=2+1",
            "--credentials=" + root.resolve("credentials"),
            "--codec=java",
            "--transport=nio",
            "--otlp-endpoint=" + collector.endpoint(),
            "--otlp-metrics-interval=1",
            "--trace-ratio=1"));
    ServerOptions options =
        ServerOptions.parse(
            Map.of("ASHLAR_CLUSTER_SECRET", "sixteen bytes or more"),
            arguments.toArray(String[]::new));
    ClusterNode started = new ClusterNode(options, meters());
    opened.add(started::close);
    s3 =
        new RehearsalClient(
            new InetSocketAddress(
                InetAddress.getLoopbackAddress(),
                options.service().listen().getFirst().endpoint().port()),
            Objects.requireNonNull(started.root()),
            "us-east-1");
  }

  @BeforeEach
  void startCluster() throws Exception {
    collector = opened.add(new Collector());
    Files.writeString(
        root.resolve("credentials"), "ASHLAR_ACCESS_KEY=some-key\nASHLAR_SECRET_KEY=secret-key\n");
    int metadata = freePort();
    String nodes = "--metadata-nodes=127.0.0.1:" + metadata;
    start(
        STORAGE,
        nodes,
        "--roles=storage,metadata",
        "--cluster-listen=127.0.0.1:" + metadata,
        "--data=" + root + "/d{1...3}",
        "--metadata=" + root + "/metadata");
    start(GATEWAY, nodes, "--roles=gateway", "--listen=http://127.0.0.1:" + freePort());
    s3.send("PUT", "/bucket", "", new byte[0]);
  }

  @AfterEach
  void close() {
    opened.close();
  }

  private interface Condition {
    boolean holds() throws Exception;
  }

  private static void await(String what, Condition condition) throws Exception {
    long deadline = System.nanoTime() + WAIT.toNanos();
    while (!condition.holds()) {
      assertTrue(System.nanoTime() < deadline, () -> "still waiting for " + what);
      Thread.sleep(20);
    }
  }

  /** The spans below this one with this name, of this process. */
  private List<Span> children(Span parent, String instance, String name) {
    return collector.spans().stream()
        .filter(each -> each.instance().equals(instance))
        .map(Received::span)
        .filter(each -> each.getParentSpanId().equals(parent.getSpanId()))
        .filter(each -> each.getTraceId().equals(parent.getTraceId()))
        .filter(each -> each.getName().equals(name))
        .toList();
  }

  private Span request(String name) throws Exception {
    await(name, () -> find(name).isPresent());
    return find(name).orElseThrow();
  }

  private Optional<Span> find(String name) {
    return collector.spans().stream()
        .map(Received::span)
        .filter(each -> each.getName().equals(name))
        .findFirst();
  }

  /** Each of the gateway's has one of the node that was asked. */
  private void assertIsServed(Span request, String asked, String served, int count)
      throws Exception {
    await(asked, () -> children(request, GATEWAY, asked).size() >= count);
    for (Span client : children(request, GATEWAY, asked)) {
      assertEquals(SpanKind.SPAN_KIND_CLIENT, client.getKind());
      await(served, () -> !children(client, STORAGE, served).isEmpty());
      Span server = children(client, STORAGE, served).getFirst();
      assertEquals(SpanKind.SPAN_KIND_SERVER, server.getKind());
      assertEquals(
          Collector.attribute(client.getAttributesList(), "ashlar.drive"),
          Collector.attribute(server.getAttributesList(), "ashlar.drive"));
    }
  }

  @Test
  void aRequestIsOneTraceThroughAllProcesses() throws Exception {
    s3.send("PUT", "/bucket/key", "", CONTENT);
    assertArrayEquals(CONTENT, s3.send("GET", "/bucket/key", "", new byte[0]));
    Span put = request("S3/PutObject");
    assertTrue(put.getParentSpanId().isEmpty());
    assertEquals(SpanKind.SPAN_KIND_SERVER, put.getKind());
    assertIsServed(put, "drive write", "drive write", 3);
    assertIsServed(put, "metadata read", "metadata query", 1);
    assertIsServed(put, "metadata commit", "metadata submit", 1);
    Span write = children(put, GATEWAY, "drive write").getFirst();
    assertTrue(
        Long.parseLong(Collector.attribute(write.getAttributesList(), "ashlar.bytes"))
            >= CONTENT.length / 4);
    Span get = request("S3/GetObject");
    assertFalse(get.getTraceId().equals(put.getTraceId()));
    assertIsServed(get, "metadata read", "metadata query", 1);
    assertIsServed(get, "drive read", "drive read", 2);
    assertTrue(children(get, GATEWAY, "metadata commit").isEmpty());
    await("metrics of both", () -> requests().isPresent() && drives().isPresent());
    assertTrue(requests().orElseThrow().getSum().getIsMonotonic());
  }

  private Optional<Metric> requests() {
    return Optional.ofNullable(collector.metrics().get(GATEWAY + " ashlar.s3.requests"));
  }

  private Optional<Metric> drives() {
    return Optional.ofNullable(collector.metrics().get(STORAGE + " ashlar.drive.used.bytes"))
        .or(() -> Optional.ofNullable(collector.metrics().get(STORAGE + " ashlar.drive.used")));
  }

  @Test
  void aCollectorThatHangsOrRefusesFailsNoRequest() throws Exception {
    for (int status : List.of(0, 500, 503)) {
      collector.answer(status);
      for (int i = 0; i < 5; i++) {
        String key = "/bucket/key-" + status + "-" + i;
        s3.send("PUT", key, "", CONTENT);
        assertArrayEquals(CONTENT, s3.send("GET", key, "", new byte[0]));
      }
    }
    collector.close();
    s3.send("PUT", "/bucket/gone", "", CONTENT);
    assertArrayEquals(CONTENT, s3.send("GET", "/bucket/gone", "", new byte[0]));
  }
}
