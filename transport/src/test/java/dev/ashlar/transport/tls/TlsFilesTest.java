package dev.ashlar.transport.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is wrong with the files of a process shows when it starts, and does no harm later. */
class TlsFilesTest {
  private static final String HOST = "127.0.0.1";

  @TempDir private Path folder;
  private TestAuthority authority;

  @BeforeEach
  void makeAuthority() throws Exception {
    authority = new TestAuthority(folder, "authority");
  }

  private static ClusterTls open(TlsFiles files, @Nullable String host) throws IOException {
    return new ClusterTls(files, host, Clock.systemUTC());
  }

  private static void refused(TlsFiles files, @Nullable String host, String... why) {
    IOException refusal = assertThrows(IOException.class, () -> open(files, host));
    String said = String.valueOf(refusal.getMessage());
    for (String part : why) {
      assertTrue(said.contains(part), said);
    }
  }

  private TlsFiles issued(UnaryOperator<CertificateBuilder> with) throws Exception {
    return authority.files("node", authority.issue("node", with));
  }

  @Test
  void keysOfAllKindsAreAccepted() throws Exception {
    List<CertificateBuilder.Algorithm> kinds =
        List.of(
            CertificateBuilder.Algorithm.ecp256,
            CertificateBuilder.Algorithm.ecp384,
            CertificateBuilder.Algorithm.rsa2048,
            CertificateBuilder.Algorithm.ed25519);
    for (CertificateBuilder.Algorithm kind : kinds) {
      TlsFiles files = issued(builder -> TestAuthority.node(builder).algorithm(kind));
      assertNotNull(open(files, HOST), kind::name);
    }
  }

  @Test
  void missingFilesAreNamed() throws Exception {
    for (String name : List.of("tls.crt", "tls.key", "ca.crt")) {
      TlsFiles files = authority.files("node");
      Files.delete(folder.resolve("node").resolve(name));
      refused(files, HOST, name, "there is no such file");
      Files.writeString(folder.resolve("node").resolve(name), "nothing\n");
      refused(files, HOST, name, "in PEM");
    }
  }

  @Test
  void theKeyMustBelongToTheCertificate() throws Exception {
    TlsFiles files = authority.files("node");
    X509Bundle other = authority.issue("node", TestAuthority::node);
    TestAuthority.replace(files.key(), other.getPrivateKeyPEM());
    refused(files, HOST, "tls.key does not belong to the certificate");
    X509Bundle rsa = authority.issue("node", builder -> builder.rsa2048());
    TestAuthority.replace(files.key(), rsa.getPrivateKeyPEM());
    refused(files, HOST, "tls.key is not an EC key");
  }

  @Test
  void keysInOlderFormatsAreAccepted() throws Exception {
    for (CertificateBuilder.Algorithm kind :
        List.of(CertificateBuilder.Algorithm.ecp384, CertificateBuilder.Algorithm.rsa2048)) {
      TlsFiles files = issued(builder -> TestAuthority.node(builder).algorithm(kind));
      TestAuthority.replace(files.key(), older(Files.readString(files.key())));
      assertNotNull(open(files, HOST), kind::name);
    }
  }

  /** The content of the PKCS#8 structure: what openssl writes with -traditional. */
  private static String older(String pkcs8) {
    String base64 = pkcs8.replaceAll("-----[^-]*-----", "").replaceAll("\\s", "");
    byte[] key = Base64.getDecoder().decode(base64);
    int octets = 4; // after the head of the sequence
    octets = key[1] == (byte) 0x82 ? octets : key[1] == (byte) 0x81 ? 3 : 2;
    octets += 3; // the version
    octets += 2 + key[octets + 1]; // the algorithm
    int head = key[octets + 1] == (byte) 0x82 ? 4 : key[octets + 1] == (byte) 0x81 ? 3 : 2;
    byte[] content = Arrays.copyOfRange(key, octets + head, key.length);
    return "-----BEGIN ANY PRIVATE KEY-----\n"
        + Base64.getMimeEncoder().encodeToString(content)
        + "\n-----END ANY PRIVATE KEY-----\n";
  }

  @Test
  void encryptedKeysAreRefused() throws Exception {
    TlsFiles files = authority.files("node");
    String pem = Files.readString(files.key());
    TestAuthority.replace(files.key(), pem.replace("PRIVATE", "ENCRYPTED PRIVATE"));
    refused(files, HOST, "tls.key is encrypted", "openssl pkey");
    TestAuthority.replace(
        files.key(),
        """
        -----BEGIN RSA PRIVATE KEY-----
        Proc-Type: 4,ENCRYPTED
        DEK-Info: AES-256-CBC,00

        AAAA
        -----END RSA PRIVATE KEY-----
        """);
    refused(files, HOST, "tls.key is encrypted", "openssl pkey");
  }

  @Test
  void certificatesOutsideTheirValidityAreRefused() throws Exception {
    Instant now = Instant.now();
    refused(
        issued(builder -> builder.notAfter(now.minusSeconds(9))), HOST, "tls.crt has expired", "T");
    refused(
        issued(builder -> builder.notBefore(now.plusSeconds(99))),
        HOST,
        "tls.crt is not valid yet");
  }

  @Test
  void certificatesThatPeersWouldRefuseAreRefused() throws Exception {
    TlsFiles files = authority.files("node");
    TestAuthority another = new TestAuthority(folder, "another");
    TestAuthority.replace(files.authorities(), another.pem());
    refused(files, HOST, "tls.crt", "is from no authority that this process trusts", "ca.crt");
    refused(files, null, "tls.crt", "is from no authority that this process trusts", "ca.crt");
    TestAuthority.replace(files.authorities(), another.pem() + authority.pem());
    assertNotNull(open(files, HOST));
    refused(files, "storage-1", "that connect to storage-1", "No name matching storage-1");
    assertNotNull(open(files, null));
    refused(
        issued(builder -> builder.addSanIpAddress(HOST).addExtendedKeyUsageServerAuth()),
        HOST,
        "does not permit use for TLS client");
    refused(
        issued(builder -> builder.addExtendedKeyUsageServerAuth()),
        null,
        "does not permit use for TLS client");
    TlsFiles ofGateway = issued(builder -> builder.addExtendedKeyUsageClientAuth());
    assertNotNull(open(ofGateway, null));
    refused(ofGateway, HOST, "does not permit use for TLS server");
  }

  @Test
  void newFilesAreAdoptedAndBrokenOnesAreNot() throws Exception {
    TlsFiles files = authority.files("node");
    try (ClusterTls tls = open(files, HOST)) {
      Instant first = tls.validUntil();
      Object before = tls.forAccepting();
      tls.check();
      assertEquals(before, tls.forAccepting());
      Instant later = first.plus(Duration.ofDays(7));
      X509Bundle renewed =
          authority.issue("node", builder -> TestAuthority.node(builder).notAfter(later));
      TestAuthority.replace(files.certificates(), renewed.getCertificatePathPEM());
      tls.check();
      assertEquals(first, tls.validUntil(), "a certificate without its key");
      TestAuthority.replace(files.key(), renewed.getPrivateKeyPEM());
      tls.check();
      assertNotEquals(first, tls.validUntil());
      Instant second = tls.validUntil();
      Files.delete(files.certificates());
      tls.check();
      tls.check();
      assertEquals(second, tls.validUntil(), "no file");
      authority.files(
          "node",
          authority.issue(
              "node",
              builder -> TestAuthority.node(builder).notAfter(Instant.now().minusSeconds(1))));
      tls.check();
      tls.check();
      assertEquals(second, tls.validUntil(), "an expired one");
      authority.files("node");
      tls.check();
      assertNotEquals(second, tls.validUntil());
    }
  }
}
