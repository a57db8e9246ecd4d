package dev.ashlar.it.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Launch;
import dev.ashlar.it.harness.Python;
import dev.ashlar.it.harness.RawConnection;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import dev.ashlar.transport.tls.CertificateFiles;
import dev.ashlar.transport.tls.TestAuthority;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;

/** The S3 port and the management port with TLS, beside plain ones of the same server. */
class TlsIT {
  private static final String HOST = "localhost";
  private static final int CLIENTS = 3;
  private static final int RENEWALS = 2;
  private static final int LARGE = 20 << 20;
  private static final String UNFIT =
      "WARN  FollowedFiles: TLS files refused; keeping the certificate CN=other.example";

  private final long seed = Seeds.seed("TlsIT");
  private final int port = ServerProcess.freePort();
  private final int managementPort = ServerProcess.freePort();
  private final URI endpoint = URI.create("https://127.0.0.1:" + port);
  private TestAuthority authority;
  private Path ca;
  private CertificateFiles first;
  private CertificateFiles other;
  private SSLContext trusting;
  private ServerProcess server;
  private S3Client s3;
  private S3Client plain;

  /** Begins when the tests begin, because it takes long. */
  private Socket stalled;

  TlsIT() throws IOException {}

  @BeforeAll
  void start(@TempDir Path folder) throws Exception {
    authority = new TestAuthority(folder, "authority");
    ca = Files.writeString(folder.resolve("ca.pem"), authority.pem());
    first = authority.server(HOST);
    other = authority.server("other.example");
    trusting = authority.clientContext();
    server =
        ServerProcess.start(
            ServerSpec.named("tls")
                .withOptions(
                    "--tls-cert",
                    first.certificates() + "," + other.certificates(),
                    "--tls-key",
                    first.key() + "," + other.key(),
                    "--listen",
                    "127.0.0.1:" + port,
                    "--management-listen",
                    "https://127.0.0.1:" + managementPort));
    s3 = Clients.secured(endpoint, authority.trustManagers());
    plain = Clients.sync(server);
    stalled = tcp();
    stalled.getOutputStream().write(new byte[] {22, 3, 1, 2, 0, 1});
  }

  @AfterAll
  void stop() throws IOException {
    stalled.close();
    s3.close();
    plain.close();
    server.close();
  }

  private byte[] content(int length) {
    return new Content(seed, length).bytes();
  }

  @Test
  void boto3AndTheAwsCli(@TempDir Path files) throws Exception {
    Python.withClients()
        .run("tls_test.py", server, endpoint.toString(), "" + seed, ca.toString(), "" + files);
  }

  @Test
  void theJavaSdk() throws Exception {
    String bucket = Buckets.create(s3, "tls");
    for (int length : new int[] {0, 10_000, LARGE}) {
      s3.putObject(b -> b.bucket(bucket).key("k"), RequestBody.fromBytes(content(length)));
      assertArrayEquals(
          content(length), s3.getObjectAsBytes(b -> b.bucket(bucket).key("k")).asByteArray());
      assertArrayEquals(
          content(length), plain.getObjectAsBytes(b -> b.bucket(bucket).key("k")).asByteArray());
    }
    URI url = presigned(bucket);
    assertEquals("https", url.getScheme());
    try (HttpClient http = HttpClient.newBuilder().sslContext(trusting).build()) {
      HttpResponse<byte[]> got =
          http.send(HttpRequest.newBuilder(url).build(), BodyHandlers.ofByteArray());
      assertArrayEquals(content(LARGE), got.body());
      assertEquals(HttpClient.Version.HTTP_1_1, got.version());
    }
  }

  private URI presigned(String bucket) throws Exception {
    try (S3Presigner presigner = Clients.presigner(endpoint)) {
      return presigner
          .presignGetObject(
              b ->
                  b.signatureDuration(Duration.ofMinutes(5))
                      .getObjectRequest(r -> r.bucket(bucket).key("k")))
          .url()
          .toURI();
    }
  }

  @Test
  void policiesTellTlsApart() {
    String bucket = Buckets.create(s3, "secure");
    s3.putObject(b -> b.bucket(bucket).key("k"), RequestBody.fromString("x"));
    s3.putBucketPolicy(
        b ->
            b.bucket(bucket)
                .policy(
                    "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Deny\","
                        + "\"Principal\":\"*\",\"Action\":\"s3:GetObject\",\"Resource\":"
                        + "\"arn:aws:s3:::"
                        + bucket
                        + "/*\",\"Condition\":{\"Bool\":{\"aws:SecureTransport\":\"false\"}}}]}"));
    assertEquals("x", s3.getObjectAsBytes(b -> b.bucket(bucket).key("k")).asUtf8String());
    S3Exception refused =
        assertThrows(
            S3Exception.class, () -> plain.getObjectAsBytes(b -> b.bucket(bucket).key("k")));
    assertEquals(403, refused.statusCode());
  }

  private SSLSocket connect(String host) throws IOException {
    SSLSocket socket =
        (SSLSocket) trusting.getSocketFactory().createSocket(tcp(), host, port, true);
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setServerNames(List.of(new SNIHostName(host)));
    socket.setSSLParameters(parameters);
    socket.startHandshake();
    return socket;
  }

  private Socket tcp() throws IOException {
    Socket socket = new Socket();
    socket.setSoTimeout(60_000);
    socket.connect(RawConnection.loopback(port));
    return socket;
  }

  private X509Certificate shown(String host) throws IOException {
    try (SSLSocket socket = connect(host)) {
      return (X509Certificate) socket.getSession().getPeerCertificates()[0];
    }
  }

  @Test
  void theNameSelectsTheCertificate() throws IOException {
    assertEquals("CN=" + HOST, shown(HOST).getSubjectX500Principal().toString());
    assertEquals("CN=other.example", shown("other.example").getSubjectX500Principal().toString());
    assertEquals("CN=" + HOST, shown("unknown.example").getSubjectX500Principal().toString());
  }

  @Test
  void certificatesAreRenewedUnderLoad() throws Exception {
    String bucket = Buckets.create(s3, "renewed");
    s3.putObject(b -> b.bucket(bucket).key("k"), RequestBody.fromBytes(content(5000)));
    URI url = presigned(bucket);
    AtomicBoolean done = new AtomicBoolean();
    AtomicInteger requests = new AtomicInteger();
    List<Throwable> failures = new CopyOnWriteArrayList<>();
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      Runnable request = i == 0 ? () -> put(bucket) : () -> getOnce(url);
      clients.add(Thread.ofVirtual().start(() -> repeat(request, done, requests, failures)));
    }
    X509Certificate before = shown("other.example");
    X509Bundle unfit = authority.issue("other.example", builder -> builder);
    TestAuthority.replace(other.key(), unfit.getPrivateKeyPEM());
    for (int i = 0; i < RENEWALS; i++) {
      X509Certificate former = shown(HOST);
      authority.server(HOST);
      Await.until("renewed", () -> !shown(HOST).equals(former));
    }
    Await.until("refused", () -> server.log().contains(UNFIT));
    assertTrue(
        server.log().contains(other.key() + " does not belong to the certificate"), server::log);
    assertEquals(before, shown("other.example"));
    authority.server("other.example");
    Await.until("replaced", () -> !shown("other.example").equals(before));
    done.set(true);
    for (Thread client : clients) {
      client.join();
    }
    assertEquals(List.of(), failures);
    assertTrue(requests.get() > 100, requests::toString);
  }

  private static void repeat(
      Runnable request, AtomicBoolean done, AtomicInteger requests, List<Throwable> failures) {
    while (!done.get() && failures.isEmpty()) {
      try {
        request.run();
        requests.incrementAndGet();
        ServerProcess.pause(Duration.ofMillis(10));
      } catch (RuntimeException | AssertionError e) {
        failures.add(e);
      }
    }
  }

  /** On a connection that stays. */
  private void put(String bucket) {
    s3.putObject(b -> b.bucket(bucket).key("put"), RequestBody.fromBytes(content(9000)));
  }

  /** On a connection of its own. */
  private void getOnce(URI url) {
    try (SSLSocket socket = connect(HOST)) {
      String head =
          "GET "
              + url.getRawPath()
              + "?"
              + url.getRawQuery()
              + " HTTP/1.1\r\nHost: "
              + url.getAuthority()
              + "\r\nConnection: close\r\n\r\n";
      socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      InputStream in = socket.getInputStream();
      String answer = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
      assertTrue(answer.startsWith("HTTP/1.1 200 "), answer);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void noClientFillsTheLog() throws Exception {
    byte[] hello = new byte[300];
    new Random(seed).nextBytes(hello);
    for (int i = 0; i < 100; i++) {
      hello[0] = (byte) (i % 2 == 0 ? 22 : i);
      try (Socket socket = tcp()) {
        socket.getOutputStream().write(hello);
      }
    }
    try (Socket socket = tcp()) {
      socket.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.UTF_8));
      byte[] answer = socket.getInputStream().readAllBytes();
      assertTrue(new String(answer, StandardCharsets.UTF_8).startsWith("HTTP/1.1 400 "));
    }
    tlsOnPlainPorts();
    List<String> lines =
        server.log().lines().filter(line -> line.contains("TLS connection of")).toList();
    assertTrue(!lines.isEmpty() && lines.size() < 10, lines::toString);
    assertFalse(server.log().contains("\tat "), server::log);
    assertFalse(server.log().contains("Exception"), server::log);
  }

  @Test
  void aStalledHandshakeIsCutOff() throws IOException {
    assertEquals(-1, stalled.getInputStream().read());
  }

  private void tlsOnPlainPorts() {
    for (URI uri : List.of(server.endpoint(), server.management("/health"))) {
      IOException failure =
          assertThrows(
              IOException.class,
              () ->
                  trusting
                      .getSocketFactory()
                      .createSocket("127.0.0.1", uri.getPort())
                      .getOutputStream()
                      .write(1));
      assertTrue(failure.toString().contains("SSLException"), failure::toString);
    }
  }

  @Test
  void theManagementPort() throws Exception {
    String address = "127.0.0.1:" + managementPort;
    Launch.Ended status = admin("--management", address, "--ca", ca.toString());
    assertEquals(0, status.code(), status.output());
    Launch.Ended untrusted = admin("--management", "https://" + address);
    assertEquals(1, untrusted.code(), untrusted.output());
    assertTrue(untrusted.output().contains("--ca"), untrusted.output());
    assertTrue(server.log().contains("by BoringSSL, certificate until"), server::log);
    String metrics = server.prometheus();
    assertTrue(metrics.contains("ashlar_tls_valid_seconds "), metrics);
  }

  private static Launch.Ended admin(String... options) {
    List<String> command = new ArrayList<>(List.of("admin", "status"));
    command.addAll(List.of(options));
    return Launch.ended(log -> Launch.start(command, Map.of(), log));
  }

  @Test
  void startsThatCannotGoWellAreRefused(@TempDir Path root) {
    ServerSpec spec = ServerSpec.named("tls-refused");
    Launch.Ended mismatched =
        Launch.refused(
            spec.withOptions(
                "--tls-cert", first.certificates().toString(), "--tls-key", other.key().toString()),
            root,
            Map.of());
    assertEquals(1, mismatched.code(), mismatched.output());
    assertTrue(
        mismatched
            .output()
            .contains(
                "ashlar: the server could not start: TLS key "
                    + other.key()
                    + " does not belong to the certificate "
                    + first.certificates()),
        mismatched.output());
    Launch.Ended without =
        Launch.refused(spec.withOptions("--listen", "https://127.0.0.1:0"), root, Map.of());
    assertEquals(2, without.code(), without.output());
    assertTrue(
        without.output().startsWith("--listen https://127.0.0.1:0 needs a certificate"),
        without.output());
  }
}
