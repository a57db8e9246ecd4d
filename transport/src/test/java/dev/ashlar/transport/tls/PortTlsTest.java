package dev.ashlar.transport.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.netty.handler.ssl.SslProvider;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

/** The certificates of a port: what is wrong shows at the start, and does no harm later. */
class PortTlsTest {
  private static final Duration LONG = Duration.ofMinutes(1);

  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  @TempDir private Path folder;
  private TestAuthority authority;

  @BeforeEach
  void begin() throws Exception {
    authority = new TestAuthority(folder, "authority");
    log.start();
    logger().addAppender(log);
  }

  @AfterEach
  void end() {
    logger().detachAppender(log);
  }

  private static Logger logger() {
    return (Logger) LoggerFactory.getLogger(FollowedFiles.class);
  }

  private static PortTls open(CertificateFiles... files) throws IOException {
    return TestAuthority.portTls(SslProvider.JDK, LONG, refusal -> {}, files);
  }

  private CertificateFiles issued(String name, UnaryOperator<CertificateBuilder> with)
      throws Exception {
    return authority.files(name, authority.issue(name, with)).own();
  }

  private static void refused(CertificateFiles files, String... why) {
    IOException refusal = assertThrows(IOException.class, () -> open(files));
    String said = String.valueOf(refusal.getMessage());
    for (String part : why) {
      assertTrue(said.contains(part), said);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"JDK", "OPENSSL"})
  void keysOfAllKindsAreAccepted(SslProvider provider) throws Exception {
    for (CertificateBuilder.Algorithm kind :
        List.of(
            CertificateBuilder.Algorithm.ecp256,
            CertificateBuilder.Algorithm.ecp384,
            CertificateBuilder.Algorithm.rsa2048)) {
      CertificateFiles files = issued("server", builder -> builder.algorithm(kind));
      assertNotNull(TestAuthority.portTls(provider, LONG, refusal -> {}, files), kind::name);
    }
  }

  @Test
  void unfitFilesAreNamed() throws Exception {
    CertificateFiles files = authority.server("server");
    CertificateFiles other = authority.server("other");
    refused(
        new CertificateFiles(files.certificates(), other.key()),
        other.key() + " does not belong to the certificate " + files.certificates());
    refused(
        new CertificateFiles(folder.resolve("none"), other.key()),
        "none cannot be read: there is no such file");
    refused(
        issued("client", builder -> builder.addExtendedKeyUsageClientAuth()),
        "tls.crt is not for servers");
    refused(
        issued("rare", builder -> builder.algorithm(CertificateBuilder.Algorithm.ed25519)),
        "key; clients need RSA or EC");
    refused(
        issued("old", builder -> builder.notAfter(Instant.now().minusSeconds(9))),
        "tls.crt has expired");
  }

  @Test
  void eachCertificateIsRenewedByItself() throws Exception {
    Instant soon = Instant.now().plusSeconds(3600);
    CertificateFiles first = issued("first", builder -> builder.notAfter(soon));
    CertificateFiles second = authority.server("second");
    try (PortTls tls = open(first, second)) {
      Files.writeString(second.key(), "no key");
      authority.files("first", authority.issue("first", builder -> builder));
      tls.check();
      tls.check();
      tls.check();
      assertTrue(tls.validUntil().isAfter(soon), "one that is not fit does not keep the others");
      List<ILoggingEvent> warnings =
          log.list.stream().filter(each -> each.getLevel() == Level.WARN).toList();
      assertEquals(1, warnings.size(), log.list::toString);
      String said = warnings.getFirst().getFormattedMessage();
      assertTrue(said.contains("keeping the certificate CN=second"), said);
      assertTrue(said.contains(second.key() + " holds no private key in PEM"), said);
    }
  }

  @Test
  void filesThatAreReplacedOneByOneAreNoFault() throws Exception {
    CertificateFiles files = authority.server("server");
    try (PortTls tls = open(files)) {
      Instant before = tls.validUntil();
      X509Bundle renewed =
          authority.issue("server", builder -> builder.notAfter(before.plusSeconds(9000)));
      TestAuthority.replace(files.certificates(), renewed.getCertificatePathPEM());
      tls.check();
      assertEquals(before, tls.validUntil());
      TestAuthority.replace(files.key(), renewed.getPrivateKeyPEM());
      tls.check();
      assertEquals(before.plusSeconds(9000), tls.validUntil());
      assertEquals(1, log.list.size(), log.list::toString);
      assertEquals(Level.INFO, log.list.getFirst().getLevel());
    }
  }
}
