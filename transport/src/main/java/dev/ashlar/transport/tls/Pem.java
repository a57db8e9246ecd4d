package dev.ashlar.transport.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Certificates and keys in PEM. */
final class Pem {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN ([A-Z0-9 ]*)PRIVATE KEY-----([^-]*)-----END");

  private static final byte SEQUENCE = 0x30;
  private static final byte OCTET_STRING = 0x04;

  /** The integer 0. */
  private static final byte[] VERSION = {2, 1, 0};

  private Pem() {}

  /**
   * All certificates of the file, at least one.
   *
   * @throws IOException naming the file
   */
  static List<X509Certificate> certificates(PemFile file, String text) throws IOException {
    List<X509Certificate> certificates = new ArrayList<>();
    try {
      byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
      CertificateFactory factory = CertificateFactory.getInstance("X.509");
      for (Certificate each : factory.generateCertificates(new ByteArrayInputStream(bytes))) {
        certificates.add((X509Certificate) each);
      }
    } catch (CertificateException e) {
      throw new IOException(file + " is not a certificate in PEM: " + e.getMessage(), e);
    }
    if (certificates.isEmpty()) {
      throw new IOException(file + " holds no certificate in PEM");
    }
    return List.copyOf(certificates);
  }

  /**
   * The private key of a certificate, in PKCS#8 or in an older format (PKCS#1, SEC 1).
   *
   * @throws IOException naming the file, but nothing of its content
   */
  static PrivateKey key(PemFile file, String text, X509Certificate certificate) throws IOException {
    if (text.contains("ENCRYPTED")) {
      throw new IOException(
          file + " is encrypted; needs a key without a password (openssl pkey -in FILE -out NEW)");
    }
    Matcher found = KEY.matcher(text);
    if (!found.find()) {
      throw new IOException(file + " holds no private key in PEM");
    }
    boolean isPkcs8 = found.group(1).isEmpty();
    String algorithm = certificate.getPublicKey().getAlgorithm();
    try {
      byte[] encoded = Base64.getMimeDecoder().decode(found.group(2));
      byte[] pkcs8 = isPkcs8 ? encoded : pkcs8(encoded, certificate.getPublicKey());
      return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      throw new IOException(file + " is not an " + algorithm + " key like the certificate's", e);
    }
  }

  /** An older format is PKCS#8 without the algorithm, which the public key names as well. */
  private static byte[] pkcs8(byte[] key, PublicKey publicKey) {
    ByteBuffer encoded = ByteBuffer.wrap(publicKey.getEncoded());
    skipHead(encoded);
    int from = encoded.position();
    int length = skipHead(encoded);
    ByteBuffer algorithm = encoded.slice(from, encoded.position() - from + length);
    byte[] octets = element(OCTET_STRING, key);
    byte[] body = new byte[VERSION.length + algorithm.remaining() + octets.length];
    ByteBuffer.wrap(body).put(VERSION).put(algorithm).put(octets);
    return element(SEQUENCE, body);
  }

  /** Moves to the content of a DER element, and returns its length. */
  private static int skipHead(ByteBuffer der) {
    der.get();
    int length = der.get() & 0xFF;
    if (length < 0x80) {
      return length;
    }
    int value = 0;
    for (int bytes = length & 0x7F; bytes > 0; bytes--) {
      value = value << 8 | (der.get() & 0xFF);
    }
    return value;
  }

  private static byte[] element(byte tag, byte[] content) {
    int length = content.length;
    ByteBuffer element = ByteBuffer.allocate(4 + length).put(tag);
    if (length > 0xFF) {
      element.put((byte) 0x82).put((byte) (length >> 8));
    } else if (length > 0x7F) {
      element.put((byte) 0x81);
    }
    element.put((byte) length).put(content);
    return Arrays.copyOf(element.array(), element.position());
  }
}
