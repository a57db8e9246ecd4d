package dev.ashlar.transport.tls;

import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
import java.io.IOException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** A certificate that is shown to clients. */
final class ServerCertificate {
  /** BoringSSL where its library is there for this machine. */
  static final SslProvider PROVIDER = OpenSsl.isAvailable() ? SslProvider.OPENSSL : SslProvider.JDK;

  /** Others are not known to many clients, nor by themselves to BoringSSL. */
  private static final Set<String> KEYS = Set.of("RSA", "EC");

  private static final String SERVER_USAGE = "1.3.6.1.5.5.7.3.1";
  private static final String ANY_USAGE = "2.5.29.37.0";
  private static final int DNS_NAME = 2;

  /** Those with forward secrecy and authenticated encryption. */
  private static final List<String> CIPHERS =
      List.of(
          "TLS_AES_128_GCM_SHA256",
          "TLS_AES_256_GCM_SHA384",
          "TLS_CHACHA20_POLY1305_SHA256",
          "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
          "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
          "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
          "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
          "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
          "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256");

  private static final ApplicationProtocolConfig HTTP_1 =
      new ApplicationProtocolConfig(
          ApplicationProtocolConfig.Protocol.ALPN,
          ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
          ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
          ApplicationProtocolNames.HTTP_1_1);

  private final CertifiedKey certified;
  private final Set<String> names;
  private final SslContext context;

  private ServerCertificate(CertifiedKey certified, Set<String> names, SslProvider provider)
      throws IOException {
    this.certified = certified;
    this.names = names;
    context =
        SslContextBuilder.forServer(certified.key(), certified.chain())
            .sslProvider(provider)
            .protocols("TLSv1.3", "TLSv1.2")
            .ciphers(CIPHERS, SupportedCipherSuiteFilter.INSTANCE)
            .applicationProtocolConfig(HTTP_1)
            .build();
  }

  /**
   * Follows the files.
   *
   * @throws IOException naming the file that is wrong
   */
  static FollowedFiles<ServerCertificate> follow(
      CertificateFiles files, SslProvider provider, Clock clock) throws IOException {
    return new FollowedFiles<>(
        List.of(files.certificateFile(), files.keyFile()),
        texts -> {
          CertifiedKey certified =
              CertifiedKey.of(files, texts.get(0), texts.get(1), clock.instant());
          try {
            checkFit(files.certificateFile(), certified.own());
            return new ServerCertificate(certified, names(certified.own()), provider);
          } catch (CertificateParsingException e) {
            throw new IOException(files.certificateFile() + " is malformed: " + e.getMessage(), e);
          }
        });
  }

  private static void checkFit(PemFile file, X509Certificate certificate)
      throws IOException, CertificateParsingException {
    String algorithm = certificate.getPublicKey().getAlgorithm();
    if (!KEYS.contains(algorithm)) {
      throw new IOException(file + " has an " + algorithm + " key; clients need RSA or EC");
    }
    List<String> usages = certificate.getExtendedKeyUsage();
    if (usages != null && !usages.contains(SERVER_USAGE) && !usages.contains(ANY_USAGE)) {
      throw new IOException(
          file + " is not for servers: its extendedKeyUsage does not name serverAuth");
    }
  }

  private static Set<String> names(X509Certificate certificate) throws CertificateParsingException {
    Set<String> names = new HashSet<>();
    Collection<List<?>> alternatives = certificate.getSubjectAlternativeNames();
    for (List<?> each : alternatives == null ? List.<List<?>>of() : alternatives) {
      if (each.get(0).equals(DNS_NAME)) {
        names.add(String.valueOf(each.get(1)).toLowerCase(Locale.ROOT));
      }
    }
    return names;
  }

  SslContext context() {
    return context;
  }

  CertifiedKey certified() {
    return certified;
  }

  /**
   * Whether it names this one.
   *
   * @param name of a host in lower case, or a pattern whose first label is {@code *}
   */
  boolean names(String name) {
    return names.contains(name);
  }

  @Override
  public String toString() {
    return certified.toString();
  }
}
