package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.ashlar.gateway.http.RawClient;
import dev.ashlar.gateway.http.TestServer;
import dev.ashlar.gateway.trace.TracedRequests;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.trace.CurrentSpan;
import dev.ashlar.protocol.trace.RecordedSpans;
import dev.ashlar.protocol.trace.RecordedSpans.Recorded;
import dev.ashlar.protocol.trace.Span;
import dev.ashlar.protocol.trace.TraceContext;
import dev.ashlar.protocol.trace.Tracer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The spans of requests, from the socket on. */
class TracedRequestsTest {
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String SAMPLED = "00-" + TRACE + "-00f067aa0ba902b7-01";

  private final TestServer server = new TestServer();
  private final RecordedSpans spans = new RecordedSpans();
  private volatile boolean isAway;

  /** What metadata was asked for last. */
  private volatile TraceContext seen = new TraceContext(9, 9, 9, (byte) 0);

  @BeforeEach
  void start() throws Exception {
    server.start(TracedRequests.of(new TestS3("us-east-1", this::observed).handler(), spans));
  }

  @AfterEach
  void stop() throws Exception {
    server.stopAndCheckNothingIsLeft();
  }

  private MetadataClient observed(MetadataClient metadata) {
    return (MetadataClient)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {MetadataClient.class},
            (proxy, method, arguments) -> {
              Span span = CurrentSpan.get();
              seen = span == null ? seen : span.context();
              if (isAway) {
                throw MetadataUnavailableException.refused("away");
              }
              try {
                return method.invoke(metadata, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private RawClient.Answer send(String method, String uri, String headers, String body)
      throws Exception {
    try (RawClient client = server.connect()) {
      return client
          .send(method + " " + uri + " HTTP/1.1\r\nHost: s3.test\r\n" + headers)
          .send("Content-Length: " + body.length() + "\r\n\r\n" + body)
          .answer(method.equals("HEAD"));
    }
  }

  /** The last request's: it ends after its answer was sent. */
  private Recorded last(int number) throws Exception {
    long deadline = System.nanoTime() + TestServer.DEADLINE.toNanos();
    while (spans.ended().size() < number && System.nanoTime() < deadline) {
      Thread.sleep(1);
    }
    assertEquals(number, spans.ended().size());
    return spans.ended().getLast();
  }

  @Test
  void aSpanTellsOfARequestButNotItsKey() throws Exception {
    send("PUT", "/bkt", "", "");
    RawClient.Answer put = send("PUT", "/bkt/secret-key", "", "hello");
    Recorded written = last(2);
    assertEquals("S3/PutObject", written.name());
    assertEquals(Tracer.Kind.SERVER, written.kind());
    assertNull(written.parent());
    assertNull(written.failure());
    assertEquals(
        Map.of(
            "http.request.method", "PUT",
            "url.scheme", "http",
            "rpc.method", "S3/PutObject",
            "aws.s3.bucket", "bkt",
            "aws.request_id", put.header("x-amz-request-id"),
            "http.request.body.size", 5L,
            "http.response.status_code", 200L),
        written.attributes());
    send("GET", "/bkt/secret-key?response-content-type=secret", "", "");
    Map<String, Object> read = new HashMap<>(last(3).attributes());
    assertEquals(5L, read.get("http.response.body.size"));
    assertEquals(200L, read.get("http.response.status_code"));
    assertFalse(read.toString().contains("secret"), read::toString);
    assertEquals(last(3).context(), seen, "metadata is asked for the span of the request");
  }

  @Test
  void theTraceOfTheClientIsContinued() throws Exception {
    send("PUT", "/bkt", "TraceParent: " + SAMPLED + "\r\ntracestate: a=b\r\n", "");
    Recorded span = last(1);
    assertEquals(SAMPLED, String.valueOf(span.parent()));
    assertEquals(TRACE, span.context().traceId());
    assertNotEquals(0x00f067aa0ba902b7L, span.context().span());
  }

  @Test
  void whatTheClientDoesNotSampleIsNotKept() throws Exception {
    send("PUT", "/bkt", "traceparent: " + SAMPLED.replace("-01", "-00") + "\r\n", "");
    assertEquals(TRACE, seen.traceId(), "lines of the log have it nevertheless");
    server.stopAndCheckNothingIsLeft();
    assertEquals(List.of(), spans.ended());
  }

  @Test
  void garbageBeginsATraceOfItsOwn() throws Exception {
    List<String> garbage =
        List.of(
            "traceparent: " + SAMPLED + "00\r\n",
            "traceparent: " + SAMPLED + "\r\ntraceparent: " + SAMPLED + "\r\n",
            "traceparent:\r\n",
            "traceparent: " + "0".repeat(4000) + "\r\n",
            "tracestate: " + "=,".repeat(2000) + "\r\n");
    for (int i = 0; i < garbage.size(); i++) {
      assertEquals(200, send("GET", "/", garbage.get(i), "").status());
      assertNull(last(i + 1).parent());
    }
  }

  @Test
  void onlyFailuresOfTheServerAreFailures() throws Exception {
    assertEquals(404, send("GET", "/missing/key", "", "").status());
    Recorded refused = last(1);
    assertNull(refused.failure());
    assertEquals("NoSuchBucket", refused.attributes().get("error.type"));
    assertEquals(404L, refused.attributes().get("http.response.status_code"));
    assertEquals(501, send("GET", "/bkt?inventory", "", "").status());
    assertEquals("GET", last(2).name(), "of an operation that is not there");
    isAway = true;
    assertEquals(503, send("GET", "/missing/key", "", "").status());
    assertEquals("ServiceUnavailable", Objects.requireNonNull(last(3).failure()));
    assertEquals(503L, last(3).attributes().get("http.response.status_code"));
  }

  @Test
  void withoutATracerNothingStandsBetween() {
    var handler = new TestS3().handler();
    assertSame(handler, TracedRequests.of(handler, null));
  }
}
