package dev.ashlar.transport.tls;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.Transport;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallClient;
import dev.ashlar.transport.call.CallClientConfig;
import dev.ashlar.transport.call.CallServer;
import dev.ashlar.transport.call.CallServerConfig;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.session.FramePort;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Who is served over TLS, and what both sides say where somebody is not. */
@Timeout(120)
@Tag("slow")
class TlsConnectionTest {
  private static final String HOST = "127.0.0.1";
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final ClusterSecret SECRET =
      new ClusterSecret("a secret of a test".getBytes(StandardCharsets.UTF_8));

  @TempDir private Path folder;
  private final UUID cluster = UUID.randomUUID();
  private final EventLoops loops = new EventLoops(Transport.preferred(), 2, "tls-test");
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private final List<AutoCloseable> opened = new ArrayList<>();
  private TestAuthority authority;
  private TestAuthority another;

  @BeforeEach
  void begin() throws Exception {
    authority = new TestAuthority(folder.resolve("one"), "authority");
    another = new TestAuthority(folder.resolve("other"), "another authority");
    log.list = new CopyOnWriteArrayList<>();
    log.start();
    portLog().addAppender(log);
  }

  private static Logger portLog() {
    return (Logger) LoggerFactory.getLogger(FramePort.class);
  }

  @AfterEach
  void end() throws Exception {
    portLog().detachAppender(log);
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
    loops.close();
  }

  private <T extends AutoCloseable> T opened(T resource) {
    opened.add(resource);
    return resource;
  }

  /** Answers with what it is asked. */
  private int listen(@Nullable ClusterTls tls) throws IOException {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    FramePort port = opened(new FramePort(any, tls, FrameTimes.DEFAULT, loops));
    opened(
        new CallServer(
            new CallServerConfig(cluster, SECRET, CallServerConfig.Limits.DEFAULT),
            port,
            call -> call.answer(CallAnswer.done(call.body()))));
    return port.address().getPort();
  }

  private CallClient client(String host, int port, @Nullable ClusterTls tls) {
    return opened(
        new CallClient(
            new Endpoint(host, port),
            new CallClientConfig(Role.GATEWAY, cluster, SECRET, tls),
            loops,
            new Random(1)));
  }

  private static void asks(CallClient client, int... lengths) throws Exception {
    assertTrue(client.awaitConnected(LONG), () -> String.valueOf(client.status().failure()));
    Random random = new Random(7);
    for (int length : lengths) {
      byte[] body = new byte[length];
      random.nextBytes(body);
      assertArrayEquals(body, client.call(Method.QUERY, body, LONG).body());
    }
  }

  /** What the client says why it is not connected. */
  private static String refused(CallClient client) throws InterruptedException {
    while (client.status().failure() == null) {
      assertFalse(client.isConnected());
      Thread.sleep(5);
    }
    IOException failure = client.status().failure();
    assertTrue(failure instanceof HandshakeException, String.valueOf(failure));
    assertEquals(0, client.status().connections());
    return String.valueOf(failure.getMessage());
  }

  private void serverSaid(String part) throws InterruptedException {
    while (log.list.isEmpty()) {
      Thread.sleep(5);
    }
    String said = log.list.getFirst().getFormattedMessage();
    assertTrue(said.contains(part), said);
  }

  private static void assertSays(String part, String message) {
    assertTrue(message.contains(part), message);
  }

  @Test
  void callsOfAnyLengthAreAnswered() throws Exception {
    int port = listen(authority.tls("server"));
    CallClient client = client(HOST, port, authority.tls("client"));
    asks(client, 0, 1, 4096, 100_000, 3_000_000, Wire.CALL_BYTES_MAX);
    List<Thread> callers = new ArrayList<>();
    List<Throwable> failures = new CopyOnWriteArrayList<>();
    for (int i = 0; i < 6; i++) {
      callers.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      asks(client, Wire.CALL_BYTES_MAX, 10, 1_000_000, 70_000);
                    } catch (Exception | AssertionError e) {
                      failures.add(e);
                    }
                  }));
    }
    for (Thread caller : callers) {
      caller.join();
    }
    assertEquals(List.of(), failures);
  }

  @Test
  void aClientWithoutTlsIsRefused() throws Exception {
    int port = listen(authority.tls("server"));
    String heard = refused(client(HOST, port, null));
    assertSays("the other side uses TLS, this process does not", heard);
    serverSaid("the other side does not use TLS, this process does");
  }

  @Test
  void aRefusalIsLoggedRightAfterAConnectionThatCameTooEarly() throws Exception {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    FramePort port = opened(new FramePort(any, authority.tls("server"), FrameTimes.DEFAULT, loops));
    var early = client(HOST, port.address().getPort(), authority.tls("client"));
    serverSaid("calls are not served yet");
    early.close();
    log.list.clear();
    var refused = client(HOST, port.address().getPort(), null);
    serverSaid("the other side does not use TLS, this process does");
    refused.close();
  }

  @Test
  void aServerWithoutTlsIsRefused() throws Exception {
    int port = listen(null);
    String heard = refused(client(HOST, port, authority.tls("client")));
    assertSays("the other side does not use TLS 1.3, or no TLS at all", heard);
    serverSaid("the other side uses TLS, this process does not");
  }

  @Test
  void aConnectionCutDuringTheTlsHandshakeIsReported() throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 9, InetAddress.getLoopbackAddress())) {
      CallClient client = client(HOST, listener.getLocalPort(), authority.tls("client"));
      try (Socket peer = listener.accept()) {
        assertTrue(peer.getInputStream().read() >= 0);
      }
      while (client.status().failure() == null) {
        Thread.sleep(5);
      }
      assertSays(
          "the peer closed the connection before the TLS handshake ended",
          String.valueOf(client.status().failure()));
    }
  }

  /** Of the certificate of another authority, though it trusts the server's. */
  @Test
  void aClientOfAnotherAuthorityIsRefused() throws Exception {
    TlsFiles files = another.files("client");
    TestAuthority.replace(files.authorities(), another.pem() + authority.pem());
    int port = listen(authority.tls("server"));
    String heard = refused(client(HOST, port, open(files)));
    assertSays("the other side refused this process during the TLS handshake", heard);
    serverSaid("of");
    serverSaid("authority that this process trusts");
  }

  private static ClusterTls open(TlsFiles files) throws IOException {
    return new ClusterTls(files, HOST, Clock.systemUTC());
  }

  @Test
  void aServerOfAnotherAuthorityIsRefused() throws Exception {
    TlsFiles files = another.files("server");
    TestAuthority.replace(files.authorities(), another.pem() + authority.pem());
    int port = listen(open(files));
    String heard = refused(client(HOST, port, authority.tls("client")));
    assertSays("the presented certificate is from no authority that this process trusts", heard);
    serverSaid("the other side refused this process during the TLS handshake");
  }

  @Test
  void theServersCertificateMustMatchItsHost() throws Exception {
    int port = listen(authority.tls("server"));
    String heard = refused(client("localhost", port, authority.tls("client")));
    assertSays("localhost", heard);
    serverSaid("the other side refused this process during the TLS handshake");
  }

  @Test
  void certificatesThatExpireAtRunTimeAreRefused() throws Exception {
    Instant soon = Instant.now().plusSeconds(4);
    X509Bundle brief =
        authority.issue("brief", builder -> TestAuthority.node(builder).notAfter(soon));
    ClusterTls tls = open(authority.files("brief", brief));
    int of = listen(tls);
    int by = listen(authority.tls("server"));
    while (!Instant.now().isAfter(soon.plusSeconds(1))) {
      Thread.sleep(50);
    }
    String heard = refused(client(HOST, of, authority.tls("client")));
    assertSays("the presented certificate has expired", heard);
    serverSaid("the other side refused this process during the TLS handshake");
    log.list.clear();
    assertSays("the other side refused this process", refused(client(HOST, by, tls)));
    serverSaid("the presented certificate has expired");
  }

  private SSLContext context(KeyManager @Nullable [] keys) throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    X509Bundle any = authority.issue("any", TestAuthority::node);
    context.init(keys, new TrustManager[] {any.toTrustManager()}, null);
    return context;
  }

  private KeyManager[] keys(String name) throws Exception {
    return authority.issue(name, TestAuthority::node).toKeyManagerFactory().getKeyManagers();
  }

  private static void endsWithoutAWord(SSLSocket socket) {
    assertThrows(
        IOException.class,
        () -> {
          socket.startHandshake();
          if (socket.getInputStream().read() < 0) {
            throw new IOException("closed");
          }
        });
  }

  @Test
  void aClientWithoutACertificateIsRefused() throws Exception {
    int port = listen(authority.tls("server"));
    try (SSLSocket socket = (SSLSocket) context(null).getSocketFactory().createSocket(HOST, port)) {
      endsWithoutAWord(socket);
    }
    serverSaid("the other side presented no certificate of an authority that this process trusts");
  }

  @Test
  void olderVersionsOfTlsAreRefused() throws Exception {
    int port = listen(authority.tls("server"));
    try (SSLSocket socket =
        (SSLSocket) context(keys("old")).getSocketFactory().createSocket(HOST, port)) {
      socket.setEnabledProtocols(new String[] {"TLSv1.2"});
      endsWithoutAWord(socket);
    }
    serverSaid("TLS");
  }

  /** Who has a certificate of the cluster, but not the secret, stands between two that have it. */
  @Test
  void aManInTheMiddleIsRefused() throws Exception {
    int port = listen(authority.tls("server"));
    SSLContext between = context(keys("between"));
    try (SSLServerSocket listener =
        (SSLServerSocket)
            between
                .getServerSocketFactory()
                .createServerSocket(0, 9, InetAddress.getLoopbackAddress())) {
      listener.setNeedClientAuth(true);
      Thread.ofVirtual().start(() -> passOn(listener, between, port));
      String heard = refused(client(HOST, listener.getLocalPort(), authority.tls("client")));
      assertSays("NOT_AUTHENTIC: the client does not know the cluster's secret", heard);
      asks(client(HOST, port, authority.tls("client")), 100);
    }
  }

  private static void passOn(SSLServerSocket listener, SSLContext context, int port) {
    try {
      while (true) {
        SSLSocket here = (SSLSocket) listener.accept();
        SSLSocket there = (SSLSocket) context.getSocketFactory().createSocket(HOST, port);
        Thread.ofVirtual().start(() -> copy(here, there));
        Thread.ofVirtual().start(() -> copy(there, here));
      }
    } catch (IOException e) {
      // The test has ended.
    }
  }

  private static void copy(SSLSocket from, SSLSocket to) {
    try (from;
        to) {
      from.getInputStream().transferTo(to.getOutputStream());
    } catch (IOException e) {
      // One of them has closed, which closes both.
    }
  }

  /** First the new authority is trusted everywhere, then it issues: nobody is interrupted. */
  @Test
  void certificatesAndAuthoritiesAreRenewedWithoutReconnecting() throws Exception {
    TlsFiles ofServer = authority.files("server");
    TlsFiles ofClient = authority.files("client");
    ClusterTls serverTls = open(ofServer);
    ClusterTls clientTls = open(ofClient);
    int port = listen(serverTls);
    CallClient lasting = client(HOST, port, clientTls);
    asks(lasting, 1000);
    for (TlsFiles files : List.of(ofServer, ofClient)) {
      TestAuthority.replace(files.authorities(), authority.pem() + another.pem());
    }
    serverTls.check();
    clientTls.check();
    asks(client(HOST, port, clientTls), 1000);
    issueAnew(ofServer, "server");
    serverTls.check();
    asks(client(HOST, port, clientTls), 1000);
    issueAnew(ofClient, "client");
    clientTls.check();
    asks(client(HOST, port, clientTls), 1000);
    TestAuthority.replace(ofServer.authorities(), another.pem());
    serverTls.check();
    asks(client(HOST, port, clientTls), 1000);
    asks(lasting, 1000);
    assertEquals(1, lasting.status().connections());
    String heard = refused(client(HOST, port, authority.tls("late")));
    assertSays("authority that this process trusts", heard);
  }

  private void issueAnew(TlsFiles files, String name) throws Exception {
    X509Bundle renewed = another.issue(name, TestAuthority::node);
    TestAuthority.replace(files.certificates(), renewed.getCertificatePathPEM());
    TestAuthority.replace(files.key(), renewed.getPrivateKeyPEM());
  }
}
