package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.ashlar.gateway.exchange.HttpExchange.RequestHandler;
import dev.ashlar.gateway.http.RawClient;
import dev.ashlar.gateway.http.TestServer;
import dev.ashlar.transport.tls.CertificateFiles;
import dev.ashlar.transport.tls.PortTls;
import dev.ashlar.transport.tls.TestAuthority;
import io.netty.handler.ssl.SslProvider;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

/** The S3 port with TLS, by either implementation of it. */
@Tag("slow")
class TlsPortTest {
  private static final int LARGE = 12 << 20;
  private static final Duration HANDSHAKE = Duration.ofSeconds(20);
  private static final Duration SHORTLY = Duration.ofMillis(300);

  private final TestServer server = new TestServer();
  private final TestS3 s3 = new TestS3();
  private final List<String> refusals = new CopyOnWriteArrayList<>();
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  @TempDir private Path folder;
  private TestAuthority authority;
  private SSLContext clientTls;

  @BeforeEach
  void begin() throws Exception {
    authority = new TestAuthority(folder, "authority");
    clientTls = authority.clientContext();
    log.list = new CopyOnWriteArrayList<>();
    log.start();
    logger().addAppender(log);
  }

  private static Logger logger() {
    return (Logger) LoggerFactory.getLogger("dev.ashlar");
  }

  @AfterEach
  void stop() throws Exception {
    server.stopAndCheckNothingIsLeft();
    logger().detachAppender(log);
    List<ILoggingEvent> warnings =
        log.list.stream().filter(each -> each.getLevel().isGreaterOrEqual(Level.WARN)).toList();
    assertEquals(List.of(), warnings, "clients fill the log");
  }

  private void start(SslProvider provider) throws Exception {
    start(provider, HANDSHAKE, s3.handler(), authority.server("s3.example"));
  }

  private void start(
      SslProvider provider,
      Duration handshake,
      RequestHandler handler,
      CertificateFiles... certificates)
      throws Exception {
    PortTls tls = TestAuthority.portTls(provider, handshake, refusals::add, certificates);
    server.secured(tls::secure).start(handler);
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

  @ParameterizedTest
  @EnumSource(names = {"JDK", "OPENSSL"})
  void objectsOfAnySizeGoBothWaysOverOneConnection(SslProvider provider) throws Exception {
    start(provider);
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

  @ParameterizedTest
  @EnumSource(names = {"JDK", "OPENSSL"})
  void rangesAndPipelinedRequests(SslProvider provider) throws Exception {
    start(provider);
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

  @ParameterizedTest
  @EnumSource(names = {"JDK", "OPENSSL"})
  void continueComesBeforeTheBody(SslProvider provider) throws Exception {
    start(provider);
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
  @ParameterizedTest
  @EnumSource(names = {"JDK", "OPENSSL"})
  void theEndOfAConnectionIsAnnounced(SslProvider provider) throws Exception {
    start(provider);
    try (RawClient client = connect()) {
      RawClient.Answer answer =
          client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").answer();
      assertEquals("close", answer.header("connection"));
      assertEquals(-1, client.read(new byte[1]));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"JDK", "OPENSSL"})
  void stalledReadersAreCutOff(SslProvider provider) throws Exception {
    server.impatient();
    start(
        provider,
        HANDSHAKE,
        exchange -> TestServer.streamed(256 << 20, 64 << 10),
        authority.server("s3.example"));
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

  @ParameterizedTest
  @EnumSource(names = {"JDK", "OPENSSL"})
  void bothVersionsAreServedAndOlderOnesAreNot(SslProvider provider) throws Exception {
    start(provider);
    for (String version : List.of("TLSv1.2", "TLSv1.3")) {
      try (SSLSocket socket = socket("s3.example", version)) {
        assertEquals(version, socket.getSession().getProtocol());
        assertEquals("http/1.1", socket.getApplicationProtocol());
        assertTrue(socket.getSession().getCipherSuite().matches(".*(GCM|POLY1305).*"));
      }
    }
    for (int minor : new int[] {1, 2}) {
      try (Socket socket = tcp()) {
        socket.getOutputStream().write(hello(minor));
        byte[] alert = socket.getInputStream().readAllBytes();
        assertEquals(21, alert[0], "an alert");
        assertEquals(70, alert[6], "protocol_version");
      }
    }
  }

  private Socket tcp() throws IOException {
    Socket socket = new Socket();
    socket.setSoTimeout((int) TestServer.DEADLINE.toMillis());
    socket.connect(server.running().address());
    return socket;
  }

  /** A connection with a completed handshake. */
  private SSLSocket socket(String host, String... versions) throws IOException {
    Socket tcp = tcp();
    SSLSocket socket =
        (SSLSocket) clientTls.getSocketFactory().createSocket(tcp, host, tcp.getPort(), true);
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setServerNames(List.of(new SNIHostName(host)));
    parameters.setApplicationProtocols(new String[] {"h2", "http/1.1"});
    socket.setSSLParameters(parameters);
    if (versions.length > 0) {
      socket.setEnabledProtocols(versions);
    }
    socket.startHandshake();
    return socket;
  }

  /** The first message of a client that knows TLS 1.0 or 1.1 at most. */
  private static byte[] hello(int minor) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(new byte[] {22, 3, 1, 0, 49, 1, 0, 0, 45, 3, (byte) minor});
    out.writeBytes(new byte[32]); // random
    out.writeBytes(new byte[] {0, 0, 6, (byte) 0xC0, 0x13, (byte) 0xC0, 0x09, 0, 0x2F, 1, 0});
    return out.toByteArray();
  }

  @ParameterizedTest
  @EnumSource(names = {"JDK", "OPENSSL"})
  void theNameThatAClientAsksForSelectsTheCertificate(SslProvider provider) throws Exception {
    CertificateFiles wildcard = authority.server("wild", "*.s3.example");
    start(
        provider,
        HANDSHAKE,
        s3.handler(),
        authority.server("first.example"),
        authority.server("other.example"),
        wildcard);
    assertEquals("CN=first.example", shown("first.example"));
    assertEquals("CN=other.example", shown("OTHER.example"));
    assertEquals("CN=wild", shown("bucket.s3.example"));
    assertEquals("CN=first.example", shown("s3.example"));
    assertEquals("CN=first.example", shown("a.b.s3.example"));
    assertEquals("CN=first.example", shown("localhost"));
    try (RawClient client = connect()) {
      assertEquals(200, put(client, "/bkt", new byte[0]).status(), "no name");
    }
  }

  private String shown(String host) throws IOException {
    try (SSLSocket socket = socket(host)) {
      X509Certificate certificate = (X509Certificate) socket.getSession().getPeerCertificates()[0];
      return certificate.getSubjectX500Principal().toString();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"JDK", "OPENSSL"})
  void handshakesMayArriveInPieces(SslProvider provider) throws Exception {
    start(provider);
    try (DribblingProxy proxy = new DribblingProxy(server.running().address());
        RawClient client = new RawClient(proxy.address(), clientTls)) {
      assertEquals(200, put(client, "/bkt", new byte[0]).status());
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"JDK", "OPENSSL"})
  void clientsWithoutTlsAreTold(SslProvider provider) throws Exception {
    start(provider);
    try (RawClient client = server.connect()) {
      RawClient.Answer answer = client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").answer();
      assertEquals(400, answer.status());
      assertTrue(answer.text().contains("HTTPS only"), answer.text());
      assertTrue(client.ended());
    }
    assertEquals(1, refusals.size(), refusals::toString);
    assertTrue(refusals.getFirst().contains("it does not use TLS"), refusals::toString);
  }

  @ParameterizedTest
  @EnumSource(names = {"JDK", "OPENSSL"})
  void garbageEndsAConnection(SslProvider provider) throws Exception {
    start(provider);
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("TlsPortTest seed " + seed);
    Random random = new Random(seed);
    for (int i = 0; i < 60; i++) {
      byte[] garbage = i % 3 == 0 ? hello(3) : new byte[1 + random.nextInt(3000)];
      if (i % 3 == 0) {
        garbage[5 + random.nextInt(garbage.length - 5)] = (byte) random.nextInt();
      } else {
        random.nextBytes(garbage);
        garbage[0] = i % 3 == 1 ? 22 : garbage[0];
      }
      try (Socket socket = tcp()) {
        socket.getOutputStream().write(garbage);
        socket.shutdownOutput();
        socket.getInputStream().readAllBytes();
      } catch (IOException e) {
        // A reset is an end too.
      }
    }
    try (RawClient client = connect()) {
      assertEquals(200, put(client, "/bkt", new byte[0]).status(), "seed " + seed);
    }
    assertTrue(refusals.stream().allMatch(each -> each.length() < 300), refusals::toString);
  }

  @ParameterizedTest
  @EnumSource(names = {"JDK", "OPENSSL"})
  void clientsThatDoNotCompleteTheHandshakeAreCutOff(SslProvider provider) throws Exception {
    start(provider, SHORTLY, s3.handler(), authority.server("s3.example"));
    byte[] hello = hello(3);
    try (Socket silent = tcp();
        Socket begun = tcp();
        Socket stalled = tcp()) {
      begun.getOutputStream().write(hello, 0, 20);
      stalled.getOutputStream().write(hello);
      assertEquals(-1, silent.getInputStream().read());
      assertEquals(-1, begun.getInputStream().read());
      stalled.getInputStream().readAllBytes();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"JDK", "OPENSSL"})
  void clientsMayVanishAtAnyTime(SslProvider provider) throws Exception {
    start(provider);
    byte[] hello = hello(3);
    for (int length : new int[] {0, 1, 5, 20, hello.length - 1}) {
      try (Socket socket = tcp()) {
        socket.getOutputStream().write(hello, 0, length);
        socket.setSoLinger(true, 0);
      }
    }
    for (boolean isOrderly : new boolean[] {true, false}) {
      Socket tcp = tcp();
      try (SSLSocket socket =
          (SSLSocket) clientTls.getSocketFactory().createSocket(tcp, "h", tcp.getPort(), true)) {
        byte[] head =
            "PUT /bkt/k HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhalf"
                .getBytes(StandardCharsets.US_ASCII);
        socket.getOutputStream().write(head);
        if (isOrderly) {
          socket.shutdownOutput();
          assertTrue(new RawClient(socket).ended());
        } else {
          tcp.setSoLinger(true, 0);
          tcp.close();
        }
      }
    }
    assertEquals(List.of(), refusals);
  }

  @Test
  void tlsOnAPortWithoutItIsAnsweredWithoutIt() throws Exception {
    server.start(s3.handler());
    IOException failure = assertThrows(IOException.class, () -> put(connect(), "/b", new byte[0]));
    assertFalse(String.valueOf(failure.getMessage()).contains("reset"), failure::toString);
    try (RawClient client = server.connect()) {
      client.send(hello(3));
      assertEquals(400, client.answer().status());
    }
  }
}
