package dev.ashlar.gateway.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.protocol.memory.ByteBudget;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that lie, stall, vanish or ask for too much. */
class HostileClientsTest {
  private static final int PIECE_BYTES = 64 << 10;
  private final TestServer server = new TestServer();

  @AfterEach
  void stop() throws Exception {
    server.stopAndCheckNothingIsLeft();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 5, 5\r\n\r\nhello",
        "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\nhello",
        "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x5\r\n\r\nhello",
        "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length : 5\r\n\r\nhello",
        "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: \r\n\r\n",
        "PUT / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: h\nContent-Length: 5\r\n\r\nhello",
        "GET / HTTP/1.1\r\nHost: h\r\nSec-WebSocket-Key1: 1\r\nSec-WebSocket-Key2: 2\r\n\r\n12345678",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET / HTTP/2.0\r\nHost: h\r\n\r\n",
        "GET x HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nbad\u0001name: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nx: \u0000\r\n\r\n",
        "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\r\n\r\n",
      })
  void ambiguousRequestsAreRefusedAndTheConnectionEnds(String request) throws Exception {
    server.start(exchange -> TestServer.text("served"));
    try (RawClient client = server.connect()) {
      RawClient.Answer answer =
          client.send(request + "GET /next HTTP/1.1\r\nHost: h\r\n\r\n").answer();
      assertEquals(400, answer.status(), request);
      assertEquals("close", answer.header("connection"));
      assertTrue(answer.text().contains("<Code>BadRequest</Code>"), answer.text());
      assertTrue(client.ended());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"gzip, chunked", "identity", "xchunked", "chunked\r\nTransfer-Encoding: chunked"})
  void unknownTransferCodingsEndTheConnection(String coding) throws Exception {
    server.start(exchange -> TestServer.text("served"));
    try (RawClient client = server.connect()) {
      client.send(
          "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: " + coding + "\r\n\r\n0\r\n\r\n");
      RawClient.Answer answer = client.answer();
      assertTrue(answer.status() == 400 || answer.status() == 501, answer.text());
      assertTrue(client.ended());
    }
  }

  @Test
  void oversizedHeadsAreRefused() throws Exception {
    server.start(exchange -> TestServer.text("served"));
    String longest = "/b/" + "%41".repeat(1024) + "?X-Amz-Signature=" + "a".repeat(8000);
    try (RawClient client = server.connect()) {
      assertEquals(
          200, client.send("GET " + longest + " HTTP/1.1\r\nHost: h\r\n\r\n").answer().status());
      String tooLong = "GET /" + "a".repeat(17 << 10) + " HTTP/1.1\r\nHost: h\r\n\r\n";
      assertTrue(client.send(tooLong).answer().text().contains("RequestHeaderSectionTooLarge"));
      assertTrue(client.ended());
    }
    try (RawClient client = server.connect()) {
      String tooLong = "GET / HTTP/1.1\r\nHost: h\r\nx: " + "a".repeat(17 << 10) + "\r\n\r\n";
      assertTrue(client.send(tooLong).answer().text().contains("RequestHeaderSectionTooLarge"));
    }
  }

  @Test
  void malformedChunksFailTheRequest() throws Exception {
    server.start(exchange -> TestServer.text(server.digest(exchange.body())));
    for (String body :
        new String[] {"zz\r\n", "5\r\nhelloX\r\n", "ffffffffff\r\n", "\r\n", "5;x\nhello\r\n"}) {
      try (RawClient client = server.connect()) {
        client.send("PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + body);
        RawClient.Answer answer = client.answer();
        assertEquals(400, answer.status(), body);
        assertEquals("close", answer.header("connection"));
        assertTrue(client.ended());
      }
    }
  }

  @Test
  void aSmallUnwantedBodyIsDrainedAndTheConnectionKept() throws Exception {
    server.start(
        exchange -> {
          throw new S3Exception(S3Error.ACCESS_DENIED);
        });
    byte[] body = new byte[500_000];
    try (RawClient client = server.connect()) {
      for (int i = 0; i < 3; i++) {
        client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 500000\r\n\r\n").send(body);
        RawClient.Answer answer = client.answer();
        assertEquals(403, answer.status());
        assertEquals("", answer.header("connection"));
      }
    }
  }

  @Test
  void aLargeUnwantedBodyEndsTheConnectionAfterTheAnswer() throws Exception {
    server.start(
        exchange -> {
          throw new S3Exception(S3Error.ACCESS_DENIED);
        });
    try (RawClient client = server.connect()) {
      client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000000\r\n\r\n");
      client.send(new byte[3_000_000]);
      RawClient.Answer answer = client.answer();
      assertEquals(403, answer.status());
      assertEquals("close", answer.header("connection"));
      assertTrue(client.ended());
    }
  }

  @Test
  void aClientThatVanishesUnblocksItsRequest() throws Exception {
    CompletableFuture<S3Error> seen = new CompletableFuture<>();
    server.start(
        exchange -> {
          try {
            server.digest(exchange.body());
          } catch (S3Exception e) {
            seen.complete(e.error());
            throw e;
          }
          return TestServer.text("whole");
        });
    RawClient client = server.connect();
    client
        .send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n")
        .send(new byte[200_000]);
    client.close();
    assertEquals(S3Error.INCOMPLETE_BODY, get(seen));
  }

  @Test
  void aClientThatVanishesWhileItReadsUnblocksItsRequest() throws Exception {
    CompletableFuture<Throwable> seen = new CompletableFuture<>();
    server.start(exchange -> endless(new AtomicLong(), seen));
    RawClient client = server.connect();
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    client.head();
    client.reset();
    assertTrue(get(seen) instanceof IOException);
  }

  @Test
  void aSlowReaderHoldsBoundedMemoryAndIsCutOff() throws Exception {
    server.impatient();
    AtomicLong written = new AtomicLong();
    CompletableFuture<Throwable> seen = new CompletableFuture<>();
    server.start(exchange -> endless(written, seen));
    try (RawClient client = new RawClient(server.running().address(), 4096)) {
      client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
      assertTrue(get(seen) instanceof IOException);
      // The window and what the kernel's send buffer takes (its limit is 4 MiB by default).
      assertTrue(written.get() < 16 << 20, () -> written + " bytes written");
      assertTrue(client.head().status() == 200);
    }
  }

  @Test
  void aSlowWriterGetsRequestTimeout() throws Exception {
    server.impatient();
    server.start(exchange -> TestServer.text(server.digest(exchange.body())));
    for (int length : new int[] {1000, 1_000_000}) {
      try (RawClient client = server.connect()) {
        client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: " + length + "\r\n\r\nx");
        RawClient.Answer answer = client.answer();
        assertEquals(400, answer.status());
        assertTrue(answer.text().contains("<Code>RequestTimeout</Code>"), answer.text());
        assertTrue(client.ended());
      }
    }
  }

  @Test
  void anUnfinishedHeadAndAnIdleConnectionEnd() throws Exception {
    server.impatient();
    server.start(exchange -> TestServer.text("x"));
    try (RawClient unfinished = server.connect();
        RawClient silent = server.connect();
        RawClient idle = server.connect()) {
      unfinished.send("GET / HTTP/1.1\r\nHost:");
      assertEquals(200, idle.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").answer().status());
      assertTrue(unfinished.answer().text().contains("RequestTimeout"));
      assertTrue(unfinished.ended());
      assertTrue(silent.ended());
      assertTrue(idle.ended());
    }
  }

  @Test
  void slowHandlersDoNotCountAsSlowClients() throws Exception {
    server.impatient();
    server.start(
        exchange -> {
          Thread.sleep(1000);
          return TestServer.text(server.digest(exchange.body()));
        });
    byte[] body = TestServer.content(8 << 20);
    try (RawClient client = server.connect()) {
      client
          .send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: " + body.length + "\r\n\r\n")
          .send(body);
      assertEquals(TestServer.digestOf(body), client.answer().text());
    }
  }

  @Test
  void withoutBudgetTheAnswerIsSlowDown() throws Exception {
    server.budget = new ByteBudget(3 << 20);
    CountDownLatch entered = new CountDownLatch(1);
    server.start(
        exchange -> {
          entered.countDown();
          return TestServer.text(server.digest(exchange.body()));
        });
    byte[] body = new byte[2_500_000];
    String head = "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: " + body.length + "\r\n\r\n";
    try (RawClient first = server.connect();
        RawClient second = server.connect()) {
      first.send(head);
      assertTrue(entered.await(20, TimeUnit.SECONDS));
      RawClient.Answer refused = second.send(head).answer();
      assertEquals(503, refused.status());
      assertEquals("1", refused.header("retry-after"));
      assertTrue(refused.text().contains("<Code>SlowDown</Code>"));
      assertEquals(200, first.send(body).answer().status());
      assertEquals(200, first.send(head).send(body).answer().status());
      assertEquals(1, server.meters.get("ashlar.http.rejected").functionCounter().count());
    }
  }

  @Test
  void tooManyRequestsAtOnceGetSlowDown() throws Exception {
    HttpConfig.Limits few =
        new HttpConfig.Limits(16384, 16384, 1000, 2, 2 << 20, 1 << 20, 512 << 10, 65536, 1 << 20);
    server.with(few, HttpConfig.Timeouts.defaults());
    CountDownLatch entered = new CountDownLatch(2);
    CountDownLatch leave = new CountDownLatch(1);
    server.start(
        exchange -> {
          entered.countDown();
          leave.await();
          return TestServer.text("x");
        });
    String get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    try (RawClient a = server.connect();
        RawClient b = server.connect();
        RawClient c = server.connect()) {
      a.send(get);
      b.send(get);
      assertTrue(entered.await(20, TimeUnit.SECONDS));
      assertEquals(503, c.send(get).answer().status());
      leave.countDown();
      assertEquals(200, a.answer().status());
      assertEquals(200, b.answer().status());
      while (c.send(get).answer().status() != 200) {
        Thread.onSpinWait(); // the permits come back just after the answers
      }
    }
  }

  @Test
  void tooManyConnectionsAreClosedAndOthersServed() throws Exception {
    server.config = server.config.withConnections(2);
    server.start(exchange -> TestServer.text("x"));
    String get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    try (RawClient a = server.connect();
        RawClient b = server.connect()) {
      assertEquals(200, a.send(get).answer().status());
      assertEquals(200, b.send(get).answer().status());
      try (RawClient c = server.connect()) {
        assertTrue(c.ended());
      }
      assertEquals(
          1, server.meters.get("ashlar.http.refused.connections").functionCounter().count());
      assertEquals(200, a.send(get).answer().status());
    }
    long begin = System.nanoTime();
    while (true) {
      try (RawClient later = server.connect()) {
        assertEquals(200, later.send(get).answer().status());
        return;
      } catch (IOException stillClosed) {
        assertTrue(System.nanoTime() - begin < TestServer.DEADLINE.toNanos(), "no room again");
      }
    }
  }

  private static HttpAnswer endless(AtomicLong written, CompletableFuture<Throwable> seen) {
    HttpAnswer.Writer writer =
        out -> {
          try {
            ByteBuf piece = Unpooled.directBuffer(PIECE_BYTES).writeZero(PIECE_BYTES);
            try {
              while (true) {
                out.write(piece.retainedDuplicate());
                written.addAndGet(PIECE_BYTES);
              }
            } finally {
              piece.release();
            }
          } catch (Throwable failure) {
            seen.complete(failure);
            throw failure;
          }
        };
    return new HttpAnswer(200, new DefaultHttpHeaders(), new HttpAnswer.Streamed(1L << 40, writer));
  }

  private static <T> T get(CompletableFuture<T> future) throws Exception {
    return future.get(TestServer.DEADLINE.toSeconds(), TimeUnit.SECONDS);
  }
}
