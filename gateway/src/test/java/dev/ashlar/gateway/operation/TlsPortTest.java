package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.ashlar.gateway.http.RawClient;
import dev.ashlar.gateway.http.S3Server;
import dev.ashlar.gateway.http.TestServer;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** The S3 port with a TLS handler in front of its connections. */
class TlsPortTest {
  private static final int LARGE = 12 << 20;

  private final TestServer server = new TestServer();
  private final TestS3 s3 = new TestS3();
  private final SSLContext clientTls = SSLContext.getInstance("TLS");

  TlsPortTest() throws Exception {
    X509Bundle certificate =
        new CertificateBuilder()
            .ecp256()
            .subject("CN=localhost")
            .setIsCertificateAuthority(true)
            .addSanIpAddress("127.0.0.1")
            .buildSelfSigned();
    SslContext serverTls =
        SslContextBuilder.forServer(certificate.toKeyManagerFactory())
            .sslProvider(SslProvider.JDK)
            .build();
    clientTls.init(null, certificate.toTrustManagerFactory().getTrustManagers(), null);
    server.secured(serverTls::newHandler);
  }

  @AfterEach
  void stop() throws Exception {
    server.stopAndCheckNothingIsLeft();
  }

  private RawClient connect() throws IOException {
    return new RawClient(server.running().address(), clientTls);
  }

  private static RawClient.Answer put(RawClient client, String path, byte[] body) throws Exception {
    client.send(
        "PUT " + path + " HTTP/1.1\r\nHost: h\r\nContent-Length: " + body.length + "\r\n\r\n");
    return client.send(body).answer();
  }

  private static RawClient.Answer get(RawClient client, String path, String range)
      throws Exception {
    return client
        .send("GET " + path + " HTTP/1.1\r\nHost: h\r\nRange: " + range + "\r\n\r\n")
        .answer();
  }

  @Test
  void objectsOfAnySizeGoBothWaysOverOneConnection() throws Exception {
    server.start(s3.handler());
    try (RawClient client = connect()) {
      assertEquals(200, put(client, "/bkt", new byte[0]).status());
      for (int size : new int[] {0, 1, 4096, 64 << 10, (64 << 10) + 1, 1 << 20, LARGE}) {
        byte[] body = TestS3.randomBytes(size, size);
        assertEquals(200, put(client, "/bkt/k" + size, body).status());
        RawClient.Answer whole =
            client.send("GET /bkt/k" + size + " HTTP/1.1\r\nHost: h\r\n\r\n").answer();
        assertEquals(200, whole.status());
        assertArrayEquals(body, whole.body());
      }
    }
  }

  @Test
  void rangesAndPipelinedRequests() throws Exception {
    server.start(s3.handler());
    byte[] body = TestS3.randomBytes(LARGE, 7);
    try (RawClient client = connect()) {
      put(client, "/bkt", new byte[0]);
      put(client, "/bkt/k", body);
      RawClient.Answer middle = get(client, "/bkt/k", "bytes=1000000-9999999");
      assertEquals(206, middle.status());
      assertArrayEquals(Arrays.copyOfRange(body, 1_000_000, 10_000_000), middle.body());
      RawClient.Answer last = get(client, "/bkt/k", "bytes=-3");
      assertArrayEquals(Arrays.copyOfRange(body, LARGE - 3, LARGE), last.body());
      assertEquals(416, get(client, "/bkt/k", "bytes=" + LARGE + "-").status());
      String small = "GET /bkt/k HTTP/1.1\r\nHost: h\r\nRange: bytes=5-9\r\n\r\n";
      client.send(small.repeat(50));
      for (int i = 0; i < 50; i++) {
        assertArrayEquals(Arrays.copyOfRange(body, 5, 10), client.answer().body());
      }
    }
  }

  @Test
  void continueComesBeforeTheBody() throws Exception {
    server.start(s3.handler());
    try (RawClient client = connect()) {
      put(client, "/bkt", new byte[0]);
      for (int i = 0; i < 3; i++) {
        client.send(
            "PUT /bkt/k HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
        assertEquals(100, client.head().status());
        assertEquals(200, client.send("hello").answer().status());
      }
      assertEquals("ello", get(client, "/bkt/k", "bytes=1-").text());
    }
  }

  /** A connection that just ends could have been cut by anyone. */
  @Test
  void theEndOfAConnectionIsAnnounced() throws Exception {
    server.start(s3.handler());
    try (RawClient client = connect()) {
      RawClient.Answer answer =
          client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").answer();
      assertEquals("close", answer.header("connection"));
      assertEquals(-1, client.read(new byte[1]));
    }
  }

  @Test
  void stalledReadersAreCutOff() throws Exception {
    server.impatient().start(exchange -> TestServer.streamed(256 << 20, 64 << 10));
    try (RawClient client = connect()) {
      client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
      assertEquals(200, client.head().status());
      long begin = System.nanoTime();
      while (server.handlersRunning.get() > 0 || server.budget.reservedBytes() > 0) {
        assertTrue(System.nanoTime() - begin < TestServer.DEADLINE.toNanos(), "still served");
        Thread.sleep(10);
      }
    }
  }

  @Test
  void clientsWithoutTlsAreClosedQuietly() throws Exception {
    ListAppender<ILoggingEvent> said = new ListAppender<>();
    said.list = new CopyOnWriteArrayList<>();
    said.start();
    Logger logger = (Logger) LoggerFactory.getLogger(S3Server.class.getPackageName());
    logger.addAppender(said);
    server.start(s3.handler());
    try (RawClient client = server.connect()) {
      client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
      byte[] answer = new byte[256];
      int length = client.read(answer);
      assertFalse(
          new String(answer, 0, Math.max(0, length), StandardCharsets.ISO_8859_1)
              .startsWith("HTTP"));
      assertTrue(length < 0 || client.ended());
    } finally {
      logger.detachAppender(said);
    }
    assertEquals(0, said.list.size(), said.list::toString);
  }
}
