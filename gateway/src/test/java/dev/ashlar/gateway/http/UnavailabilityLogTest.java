package dev.ashlar.gateway.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class UnavailabilityLogTest {
  private final ListAppender<ILoggingEvent> said = new ListAppender<>();
  private final TestServer server = new TestServer();
  private long nanos = Long.MAX_VALUE - 5; // as System.nanoTime may be

  @BeforeEach
  void begin() {
    said.list = new CopyOnWriteArrayList<>();
    said.start();
    logger().addAppender(said);
  }

  @AfterEach
  void end() throws InterruptedException {
    server.stopAndCheckNothingIsLeft();
    logger().detachAppender(said);
  }

  private static Logger logger() {
    return (Logger) LoggerFactory.getLogger(UnavailabilityLog.class);
  }

  private List<String> lines() {
    return said.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  private static S3Exception slowDown(String reason) {
    return new S3Exception(S3Error.SLOW_DOWN, "told", new IOException(reason));
  }

  @Test
  void firstErrorIsLoggedAtOnceThenOneLinePerInterval() {
    UnavailabilityLog log = new UnavailabilityLog(() -> nanos);
    log.unserved(slowDown("first"), "A");
    log.unserved(slowDown("second"), "B");
    nanos += UnavailabilityLog.INTERVAL.toNanos() - 1;
    log.unserved(slowDown("third"), "C");
    nanos++;
    log.unserved(slowDown("fourth"), "D");
    assertEquals(
        List.of(
            "1 requests answered 503 SlowDown, the last one A: first",
            "3 requests answered 503 SlowDown, the last one D: fourth"),
        lines());
  }

  @Test
  void errorsAreCountedSeparately() {
    UnavailabilityLog log = new UnavailabilityLog(() -> nanos);
    log.unserved(slowDown("queue"), "A");
    log.unserved(new S3Exception(S3Error.SERVICE_UNAVAILABLE, "no cause"), "B");
    assertEquals(
        List.of(
            "1 requests answered 503 SlowDown, the last one A: queue",
            "1 requests answered 503 ServiceUnavailable, the last one B: no cause"),
        lines());
  }

  @Test
  void aCauseWithoutAMessageIsNamed() {
    UnavailabilityLog log = new UnavailabilityLog(() -> nanos);
    log.unserved(new S3Exception(S3Error.SLOW_DOWN, "told", new IOException()), "A");
    assertEquals(
        List.of("1 requests answered 503 SlowDown, the last one A: java.io.IOException"), lines());
  }

  @Test
  void serverLogsTheReason() throws Exception {
    server.start(
        exchange -> {
          throw slowDown("queue of drive 7");
        });
    try (RawClient client = server.connect()) {
      RawClient.Answer answer = client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").answer();
      assertEquals(503, answer.status());
      String id = answer.header("x-amz-request-id");
      assertEquals(
          List.of("1 requests answered 503 SlowDown, the last one " + id + ": queue of drive 7"),
          lines());
    }
  }

  @Test
  void clientErrorsAreNotLogged() throws Exception {
    server.start(
        exchange -> {
          throw new S3Exception(S3Error.NO_SUCH_KEY);
        });
    try (RawClient client = server.connect()) {
      assertEquals(404, client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").answer().status());
      assertEquals(List.of(), lines());
    }
  }
}
