package dev.ashlar.transport.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Certificates and keys in PEM. */
final class Pem {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN ([A-Z0-9 ]*)PRIVATE KEY-----([^-]*)-----END");

  private Pem() {}

  /**
   * All certificates of the file, at least one.
   *
   * @throws IOException naming the file
   */
  static List<X509Certificate> certificates(String what, Path file, String text)
      throws IOException {
    List<X509Certificate> certificates = new ArrayList<>();
    try {
      byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
      CertificateFactory factory = CertificateFactory.getInstance("X.509");
      for (Certificate each : factory.generateCertificates(new ByteArrayInputStream(bytes))) {
        certificates.add((X509Certificate) each);
      }
    } catch (CertificateException e) {
      throw new IOException(
          "TLS " + what + " " + file + " is not a certificate in PEM: " + e.getMessage(), e);
    }
    if (certificates.isEmpty()) {
      throw new IOException("TLS " + what + " " + file + " holds no certificate in PEM");
    }
    return List.copyOf(certificates);
  }

  /**
   * The private key of a certificate.
   *
   * @throws IOException naming the file, but nothing of its content
   */
  static PrivateKey key(Path file, String text, X509Certificate certificate) throws IOException {
    Matcher found = KEY.matcher(text);
    if (!found.find()) {
      throw new IOException("TLS key " + file + " holds no private key in PEM");
    }
    String form = found.group(1).strip();
    if (!form.isEmpty()) {
      throw new IOException(
          "TLS key "
              + file
              + " is "
              + (form.equals("ENCRYPTED") ? "encrypted" : "in the older " + form + " format")
              + "; needs PKCS#8 without a password (openssl pkcs8 -topk8 -nocrypt)");
    }
    String algorithm = certificate.getPublicKey().getAlgorithm();
    try {
      byte[] encoded = Base64.getMimeDecoder().decode(found.group(2));
      return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(encoded));
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      throw new IOException(
          "TLS key " + file + " is not an " + algorithm + " key like the certificate's", e);
    }
  }
}
