package dev.ashlar.gateway.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.protocol.memory.ByteBudget;
import dev.ashlar.transport.Transport;
import io.micrometer.core.instrument.Gauge;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ManyConnectionsTest {
  private static final int IDLE_CONNECTIONS = 10_000;
  private static final int HEAP_BYTES_PER_CONNECTION_MAX = 12 << 10;
  private static final long SEED = Long.getLong("ashlar.seed", System.nanoTime());
  private static final String GET = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

  private final TestServer server = new TestServer();

  @AfterEach
  void stop() throws Exception {
    server.stopAndCheckNothingIsLeft();
  }

  @Test
  void idleConnectionsCostLittle() throws Exception {
    server.start(exchange -> TestServer.text("x"));
    long buffersBefore = TestServer.activeAllocations();
    long heapBefore = usedHeap();
    int count = Math.min(IDLE_CONNECTIONS, freeFileDescriptors() / 2);
    List<SocketChannel> idle = new ArrayList<>(count);
    try {
      for (int i = 0; i < count; i++) {
        idle.add(SocketChannel.open(server.running().address()));
      }
      try (RawClient client = server.connect()) {
        assertEquals(200, client.send(GET).answer().status());
      }
      awaitConnections(count);
      assertTrue(TestServer.activeAllocations() - buffersBefore < 64);
      long perConnection = (usedHeap() - heapBefore) / count;
      assertTrue(perConnection < HEAP_BYTES_PER_CONNECTION_MAX, () -> perConnection + " bytes");
    } finally {
      for (SocketChannel channel : idle) {
        channel.setOption(StandardSocketOptions.SO_LINGER, 0); // leaves no TIME_WAIT behind
        channel.close();
      }
    }
  }

  /** The kernel completes connections before the server has accepted them. */
  private void awaitConnections(int count) throws InterruptedException {
    Gauge connections = server.meters.get("ashlar.http.connections").gauge();
    for (int tries = 0; connections.value() < count && tries < 600; tries++) {
      Thread.sleep(50);
    }
    assertTrue(connections.value() >= count, () -> connections.value() + " connections");
  }

  private static long usedHeap() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  private static int freeFileDescriptors() {
    UnixOperatingSystemMXBean os =
        (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    return (int)
        Math.min(
            Integer.MAX_VALUE,
            os.getMaxFileDescriptorCount() - os.getOpenFileDescriptorCount() - 200);
  }

  @ParameterizedTest
  @EnumSource(Transport.class)
  void servesOnEveryTransport(Transport transport) throws Exception {
    HttpConfig standard = server.config;
    server.config =
        new HttpConfig(standard.listeners(), transport, 2, standard.limits(), standard.timeouts());
    try {
      transport.ensureAvailable();
    } catch (IllegalStateException missing) {
      assertThrows(
          IllegalStateException.class, () -> server.start(exchange -> TestServer.text("x")));
      return;
    }
    server.start(exchange -> TestServer.text(server.digest(exchange.body())));
    byte[] body = TestServer.content(3 << 20);
    try (RawClient client = server.connect()) {
      for (int i = 0; i < 3; i++) {
        client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: " + body.length + "\r\n\r\n");
        assertEquals(TestServer.digestOf(body), client.send(body).answer().text());
      }
    }
  }

  @Test
  void shutdownLetsRunningRequestsEnd() throws Exception {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch leave = new CountDownLatch(1);
    server.start(
        exchange -> {
          if (exchange.rawPath().equals("/slow")) {
            entered.countDown();
            leave.await();
          }
          return TestServer.text("done");
        });
    try (RawClient running = server.connect();
        RawClient idle = server.connect()) {
      idle.send(GET).answer();
      running.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n");
      assertTrue(entered.await(20, TimeUnit.SECONDS));
      CompletableFuture<Void> closed = CompletableFuture.runAsync(server.running()::close);
      assertTrue(idle.ended());
      leave.countDown();
      RawClient.Answer answer = running.answer();
      assertEquals("done", answer.text());
      assertEquals("close", answer.header("connection"));
      closed.get(20, TimeUnit.SECONDS);
      assertThrows(IOException.class, server::connect);
    }
  }

  @Test
  void shutdownClosesRequestsThatDoNotEnd() throws Exception {
    server.impatient();
    HttpConfig.Timeouts hasty = server.config.timeouts();
    server.with(
        server.config.limits(),
        new HttpConfig.Timeouts(
            hasty.idle(), hasty.head(), hasty.stall(), 1, hasty.linger(), hasty.linger()));
    CountDownLatch entered = new CountDownLatch(1);
    server.start(
        exchange -> {
          entered.countDown();
          new CountDownLatch(1).await();
          return TestServer.text("never");
        });
    try (RawClient client = server.connect()) {
      client.send(GET);
      assertTrue(entered.await(20, TimeUnit.SECONDS));
      server.running().close();
      assertTrue(client.ended());
    }
  }

  @Test
  void chaosLeavesNothingBehind() throws Exception {
    server.impatient();
    server.budget = new ByteBudget(8 << 20);
    server.start(ManyConnectionsTest::chaoticAnswer);
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      long seed = SEED + i;
      clients.add(Thread.ofVirtual().start(() -> chaoticClient(new Random(seed))));
    }
    for (Thread client : clients) {
      client.join();
    }
    try (RawClient client = server.connect()) {
      int status = client.send("GET /0 HTTP/1.1\r\nHost: h\r\n\r\n").answer().status();
      assertEquals(200, status, "seed " + SEED);
    }
  }

  private static HttpAnswer chaoticAnswer(HttpExchange exchange)
      throws S3Exception, InterruptedException {
    int wanted = Integer.parseInt(exchange.rawPath().substring(1));
    if (wanted % 7 == 3) {
      throw new S3Exception(S3Error.NO_SUCH_KEY);
    }
    int pieces = 0;
    for (ByteBuf piece = exchange.body().read(); piece != null; piece = exchange.body().read()) {
      piece.release();
      if (wanted % 5 == 2 && ++pieces > 3) {
        throw new S3Exception(S3Error.BAD_DIGEST);
      }
    }
    return TestServer.streamed(wanted, 10_000);
  }

  private void chaoticClient(Random random) {
    for (int i = 0; i < 60; i++) {
      try (RawClient client = server.connect()) {
        for (int request = random.nextInt(4); request >= 0; request--) {
          chaoticRequest(client, random);
        }
        if (random.nextBoolean()) {
          client.reset();
        }
      } catch (IOException cutOff) {
        // what the server does to clients like this one
      }
    }
  }

  private static void chaoticRequest(RawClient client, Random random) throws IOException {
    int length = 1 << random.nextInt(21);
    boolean chunked = random.nextInt(4) == 0;
    boolean expects = random.nextInt(6) == 0;
    client.send(
        "PUT /"
            + random.nextInt(400_000)
            + " HTTP/1.1\r\nHost: h\r\n"
            + (expects ? "Expect: 100-continue\r\n" : "")
            + (chunked
                ? "Transfer-Encoding: chunked\r\n\r\n"
                : "Content-Length: " + length + "\r\n\r\n"));
    byte[] body = new byte[random.nextInt(3) == 0 ? random.nextInt(length) : length];
    if (chunked) {
      client.send(Integer.toHexString(length) + "\r\n").send(body).send("\r\n0\r\n\r\n");
    } else {
      client.send(body);
    }
    if (body.length == length && random.nextInt(4) > 0) {
      RawClient.Answer answer = client.head();
      int left = Integer.parseInt(answer.headers().getOrDefault("content-length", "0"));
      client.read(new byte[Math.max(1, left)]);
    }
  }
}
