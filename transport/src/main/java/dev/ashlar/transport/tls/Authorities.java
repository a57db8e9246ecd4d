package dev.ashlar.transport.tls;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** Certificates that are trusted, usually because they issue others. */
public final class Authorities {
  private final TrustManagerFactory trust;

  private Authorities(TrustManagerFactory trust) {
    this.trust = trust;
  }

  /**
   * Reads the certificates of a PEM file.
   *
   * @throws IOException naming the file
   */
  public static Authorities read(Path file) throws IOException {
    PemFile pem = new PemFile("authorities", file);
    return parse(pem, pem.read());
  }

  static Authorities parse(PemFile file, String text) throws IOException {
    List<X509Certificate> certificates = Pem.certificates(file, text);
    try {
      KeyStore anchors = KeyStore.getInstance("PKCS12");
      anchors.load(null, null);
      for (int i = 0; i < certificates.size(); i++) {
        anchors.setCertificateEntry("authority-" + i, certificates.get(i));
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(anchors);
      return new Authorities(trust);
    } catch (GeneralSecurityException e) {
      throw unavailable(e);
    }
  }

  TrustManagerFactory trust() {
    return trust;
  }

  /** What decides that only certificates from these are trusted. */
  public TrustManager[] trustManagers() {
    return trust.getTrustManagers();
  }

  /** For clients that trust only these. */
  public SSLContext clientContext() throws IOException {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trustManagers(), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw unavailable(e);
    }
  }

  private static IOException unavailable(GeneralSecurityException cause) {
    return new IOException("TLS is not available: " + cause.getMessage(), cause);
  }
}
