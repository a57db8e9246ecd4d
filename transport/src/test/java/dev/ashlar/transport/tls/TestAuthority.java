package dev.ashlar.transport.tls;

import io.netty.handler.ssl.SslProvider;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;

/** Issues certificates for tests, and puts them into files as an operator would. */
public final class TestAuthority {
  private final Path folder;
  private final X509Bundle root;

  /**
   * @param folder for the files, which are in a folder of each name
   */
  public TestAuthority(Path folder, String name) throws Exception {
    this.folder = folder;
    root =
        valid()
            .subject("CN=" + name)
            .setIsCertificateAuthority(true)
            .setKeyUsage(true, CertificateBuilder.KeyUsage.keyCertSign)
            .buildSelfSigned();
  }

  private static CertificateBuilder valid() {
    Instant now = Instant.now();
    return new CertificateBuilder()
        .ecp256()
        .notBefore(now.minus(Duration.ofHours(1)))
        .notAfter(now.plus(Duration.ofDays(1)));
  }

  /** What a node of a cluster on this machine needs. */
  public static CertificateBuilder node(CertificateBuilder builder) {
    return builder
        .addSanIpAddress("127.0.0.1")
        .addExtendedKeyUsageServerAuth()
        .addExtendedKeyUsageClientAuth();
  }

  /** Issues a certificate. */
  public X509Bundle issue(String name, UnaryOperator<CertificateBuilder> with) throws Exception {
    return with.apply(valid().subject("CN=" + name)).buildIssuedBy(root);
  }

  /** Files of a node with this name. */
  public TlsFiles files(String name) throws Exception {
    return files(name, issue(name, TestAuthority::node));
  }

  /** What a server on this machine needs that is reached under its name. */
  public CertificateFiles server(String name) throws Exception {
    return server(name, name);
  }

  /**
   * The same under another name.
   *
   * @param host may be a pattern, which the builder's own method refuses
   */
  public CertificateFiles server(String name, String host) throws Exception {
    byte[] dns = host.getBytes(StandardCharsets.US_ASCII);
    ByteArrayOutputStream names = new ByteArrayOutputStream();
    names.writeBytes(new byte[] {0x30, (byte) (8 + dns.length), (byte) 0x82, (byte) dns.length});
    names.writeBytes(dns);
    names.writeBytes(new byte[] {(byte) 0x87, 4, 127, 0, 0, 1});
    X509Bundle certificate =
        issue(
            name,
            builder -> builder.addExtensionOctetString("2.5.29.17", false, names.toByteArray()));
    return files(name, certificate).own();
  }

  /** For clients that trust this authority. */
  public TrustManager[] trustManagers() throws Exception {
    return root.toTrustManagerFactory().getTrustManagers();
  }

  /** The same. */
  public SSLContext clientContext() throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trustManagers(), null);
    return context;
  }

  /** TLS of a port, with files that nobody watches. */
  public static PortTls portTls(
      SslProvider provider,
      Duration handshake,
      Consumer<String> refusals,
      CertificateFiles... certificates)
      throws IOException {
    return new PortTls(List.of(certificates), provider, handshake, Clock.systemUTC(), refusals);
  }

  /** Files with this certificate and its key, and this authority as the one that is trusted. */
  public TlsFiles files(String name, X509Bundle certificate) throws IOException {
    Path own = Files.createDirectories(folder.resolve(name));
    TlsFiles files =
        new TlsFiles(own.resolve("tls.crt"), own.resolve("tls.key"), own.resolve("ca.crt"));
    replace(files.certificates(), certificate.getCertificatePathPEM());
    replace(files.key(), certificate.getPrivateKeyPEM());
    replace(files.authorities(), root.getCertificatePEM());
    return files;
  }

  /** The certificate of this authority. */
  public String pem() {
    return root.getCertificatePEM();
  }

  /** Nobody sees a half of it. */
  public static void replace(Path file, String text) throws IOException {
    Path temporary = file.resolveSibling(file.getFileName() + ".new");
    Files.writeString(temporary, text);
    Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
  }

  /** TLS of a node with this name, whose files nobody watches. */
  public ClusterTls tls(String name) throws Exception {
    return new ClusterTls(files(name), "127.0.0.1", Clock.systemUTC());
  }
}
