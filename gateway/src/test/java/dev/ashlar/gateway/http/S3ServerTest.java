package dev.ashlar.gateway.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

class S3ServerTest {
  private final TestServer server = new TestServer();

  @AfterEach
  void stop() throws Exception {
    server.stopAndCheckNothingIsLeft();
  }

  @Test
  void answersWithTheStandardHeaders() throws Exception {
    server.start(exchange -> TestServer.text(exchange.rawPath() + "?" + exchange.rawQuery()));
    try (RawClient client = server.connect()) {
      RawClient.Answer answer =
          client.send("GET /a//../b%2F?x=%20&y HTTP/1.1\r\nHost: h\r\n\r\n").answer();
      assertEquals(200, answer.status());
      assertEquals("/a//../b%2F?x=%20&y", answer.text());
      assertEquals("Ashlar", answer.header("server"));
      assertEquals("Sun, 01 Nov 2026 00:00:00 GMT", answer.header("date"));
      assertEquals(16, answer.header("x-amz-request-id").length());
      assertTrue(answer.header("x-amz-id-2").length() > 40);
    }
  }

  @Test
  void keepsTheConnectionAndAnswersPipelinedRequestsInOrder() throws Exception {
    server.start(exchange -> TestServer.text(exchange.rawPath() + server.digest(exchange.body())));
    try (RawClient client = server.connect()) {
      StringBuilder requests = new StringBuilder();
      for (int i = 0; i < 200; i++) {
        requests.append("PUT /").append(i).append(" HTTP/1.1\r\nHost: h\r\nContent-Length: ");
        requests.append(i).append("\r\n\r\n").append("x".repeat(i));
      }
      client.send(requests.toString());
      for (int i = 0; i < 200; i++) {
        assertEquals("/" + i + TestServer.digestOf("x".repeat(i)), client.answer().text());
      }
    }
  }

  @Test
  void rendersErrorsAsS3DoesAndKeepsTheConnection() throws Exception {
    server.start(
        exchange -> {
          throw new S3Exception(S3Error.NO_SUCH_KEY);
        });
    try (RawClient client = server.connect()) {
      RawClient.Answer answer = client.send("GET /b/<k> HTTP/1.1\r\nHost: h\r\n\r\n").answer();
      assertEquals(404, answer.status());
      assertEquals("application/xml", answer.header("content-type"));
      assertTrue(answer.text().contains("<Code>NoSuchKey</Code>"), answer.text());
      assertTrue(answer.text().contains("<Resource>/b/&lt;k&gt;</Resource>"), answer.text());
      assertTrue(
          answer
              .text()
              .contains("<RequestId>" + answer.header("x-amz-request-id") + "</RequestId>"));
      RawClient.Answer head = client.send("HEAD /b/k HTTP/1.1\r\nHost: h\r\n\r\n").answer(true);
      assertEquals(404, head.status());
      assertEquals(404, client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").answer().status());
    }
  }

  @Test
  void hidesUnexpectedFailures() throws Exception {
    server.start(
        exchange -> {
          throw new IllegalArgumentException("secret");
        });
    try (RawClient client = server.connect()) {
      RawClient.Answer answer = client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").answer();
      assertEquals(500, answer.status());
      assertTrue(answer.text().contains("InternalError"));
      assertTrue(!answer.text().contains("secret"));
    }
  }

  /** The client sees just the end of its connection. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void logsWhyAnAnswerCouldNotBeSent(int wholePieces) throws Exception {
    ListAppender<ILoggingEvent> said = new ListAppender<>();
    said.list = new CopyOnWriteArrayList<>();
    said.start();
    Logger logger = (Logger) LoggerFactory.getLogger(Outbound.class);
    logger.addAppender(said);
    ByteBuf released = Unpooled.directBuffer(5).writeZero(5);
    released.release();
    server.start(
        exchange ->
            TestServer.streamed(
                5 + wholePieces,
                out -> {
                  for (int i = 0; i < wholePieces; i++) {
                    out.write(TestServer.wrapped("x"));
                  }
                  out.write(released);
                }));
    try (RawClient client = server.connect()) {
      assertTrue(client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").ended());
      long begin = System.nanoTime();
      while (said.list.isEmpty()) {
        assertTrue(System.nanoTime() - begin < TestServer.DEADLINE.toNanos(), "nothing is logged");
        Thread.sleep(10);
      }
    } finally {
      logger.detachAppender(said);
    }
    String message = said.list.getFirst().getFormattedMessage();
    assertTrue(message.endsWith("could not be sent."), message);
  }

  @Test
  void sendsContinueOnlyWhenTheBodyIsRead() throws Exception {
    server.start(
        exchange -> {
          if (exchange.rawPath().equals("/refused")) {
            throw new S3Exception(S3Error.ACCESS_DENIED);
          }
          return TestServer.text(server.digest(exchange.body()));
        });
    try (RawClient client = server.connect()) {
      String head = " HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
      client.send("PUT /taken" + head);
      assertEquals(100, client.head().status());
      assertEquals(TestServer.digestOf("hello"), client.send("hello").answer().text());
      client.send("PUT /refused" + head);
      RawClient.Answer refused = client.answer();
      assertEquals(403, refused.status());
      assertEquals("close", refused.header("connection"));
      assertTrue(client.ended());
    }
  }

  @Test
  void takesChunkedBodies() throws Exception {
    server.start(
        exchange -> TestServer.text(exchange.body().length() + server.digest(exchange.body())));
    try (RawClient client = server.connect()) {
      client.send("PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
      client.send("5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: x\r\n\r\n");
      assertEquals("-1" + TestServer.digestOf("hello world"), client.answer().text());
      assertEquals(
          200,
          client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n").answer().status());
    }
  }

  @Test
  void servesHttp10() throws Exception {
    server.start(exchange -> TestServer.text("x"));
    try (RawClient client = server.connect()) {
      RawClient.Answer kept =
          client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").answer();
      assertEquals("keep-alive", kept.header("connection"));
      RawClient.Answer last = client.send("GET / HTTP/1.0\r\n\r\n").answer();
      assertEquals("close", last.header("connection"));
      assertTrue(client.ended());
    }
  }

  @Test
  void answersHeadWithoutTheBody() throws Exception {
    server.start(exchange -> TestServer.streamed(1 << 20, 4096));
    try (RawClient client = server.connect()) {
      RawClient.Answer head = client.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n").answer(true);
      assertEquals("1048576", head.header("content-length"));
      RawClient.Answer whole = client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").answer();
      assertTrue(Arrays.equals(TestServer.content(1 << 20), whole.body()));
    }
  }

  @Test
  void largeBodiesPassThroughBoundedMemory() throws Exception {
    server.start(exchange -> TestServer.text(server.digest(exchange.body())));
    byte[] body = TestServer.content(32 << 20);
    try (RawClient client = server.connect()) {
      client
          .send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: " + body.length + "\r\n\r\n")
          .send(body);
      assertEquals(TestServer.digestOf(body), client.answer().text());
    }
  }

  @Test
  void sendsWhatIsLeftToReadOfEachPiece() throws Exception {
    server.start(
        exchange ->
            TestServer.streamed(
                6,
                out -> {
                  out.write(TestServer.wrapped("-ab").skipBytes(1));
                  out.write(TestServer.wrapped("--cd").skipBytes(2));
                  out.write(TestServer.wrapped("ef"));
                }));
    try (RawClient client = server.connect()) {
      assertEquals("abcdef", client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").answer().text());
    }
  }

  /** Each piece may hold far more memory than it has bytes. */
  @Test
  void keepsFewShortPiecesBack() throws Exception {
    int count = 1000;
    int keptMax = 64;
    Semaphore received = new Semaphore(keptMax);
    server.start(
        exchange -> {
          HttpAnswer.Writer writer =
              out -> {
                for (int i = 0; i < count; i++) {
                  received.acquire();
                  out.write(TestServer.wrapped("x"));
                }
              };
          return TestServer.streamed(count, writer);
        });
    try (RawClient client = server.connect()) {
      client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").head();
      for (int i = 0; i < count; i++) {
        assertEquals(1, client.read(new byte[1]));
        received.release();
      }
    }
  }

  @Test
  void sendsAnotherAnswerInsteadWhileTheHeadIsNotSent() throws Exception {
    server.start(
        exchange -> {
          int length = exchange.rawPath().equals("/early") ? 1000 : 1 << 20;
          HttpAnswer.Streamed streamed =
              (HttpAnswer.Streamed) TestServer.streamed(length, 500).body();
          HttpAnswer.Writer writer =
              out -> {
                streamed.writer().writeTo(out);
                throw new HttpAnswer.ReplacementAnswerException(
                    TestServer.streamed(100_000, 5000), new IllegalStateException("gone"));
              };
          return TestServer.streamed(length + 1, writer);
        });
    try (RawClient client = server.connect()) {
      RawClient.Answer other = client.send("GET /early HTTP/1.1\r\nHost: h\r\n\r\n").answer();
      assertEquals("100000", other.header("content-length"));
      assertTrue(Arrays.equals(TestServer.content(100_000), other.body()));
      RawClient.Answer head = client.send("GET /late HTTP/1.1\r\nHost: h\r\n\r\n").head();
      assertEquals("" + ((1 << 20) + 1), head.header("content-length"));
      int received = 0;
      while (!client.ended()) {
        received++;
      }
      assertTrue(received < 1 << 20, "all of what was promised came, but is gone");
    }
  }
}
