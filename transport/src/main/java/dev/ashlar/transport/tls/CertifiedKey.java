package dev.ashlar.transport.tls;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;

/**
 * A private key and the certificate for it, which is valid.
 *
 * @param chain the certificate, then intermediate ones
 */
record CertifiedKey(List<X509Certificate> chain, PrivateKey key) {
  private static final byte[] SOMETHING = "signed".getBytes(StandardCharsets.US_ASCII);

  /**
   * Parses the texts of the files and checks that they belong together.
   *
   * @throws IOException naming the file that is wrong
   */
  static CertifiedKey of(
      CertificateFiles files, String certificateText, String keyText, Instant now)
      throws IOException {
    List<X509Certificate> chain = Pem.certificates(files.certificateFile(), certificateText);
    X509Certificate own = chain.getFirst();
    PrivateKey key = Pem.key(files.keyFile(), keyText, own);
    if (!isPair(key, own.getPublicKey())) {
      throw new IOException(
          files.keyFile() + " does not belong to the certificate " + files.certificates());
    }
    CertifiedKey certified = new CertifiedKey(chain, key);
    certified.checkTime(files.certificateFile(), now);
    return certified;
  }

  /** Whether the public key verifies a signature of the private key. */
  private static boolean isPair(PrivateKey key, PublicKey publicKey) throws IOException {
    String algorithm =
        switch (publicKey.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "RSASSA-PSS" -> "RSASSA-PSS";
          case "EC" -> "SHA256withECDSA";
          default -> publicKey.getAlgorithm();
        };
    try {
      Signature signing = Signature.getInstance(algorithm);
      signing.initSign(key);
      signing.update(SOMETHING);
      byte[] signed = signing.sign();
      Signature verifying = Signature.getInstance(algorithm);
      verifying.initVerify(publicKey);
      verifying.update(SOMETHING);
      return verifying.verify(signed);
    } catch (GeneralSecurityException e) {
      throw new IOException(
          "TLS with " + algorithm + " keys is not available: " + e.getMessage(), e);
    }
  }

  private void checkTime(PemFile file, Instant now) throws IOException {
    Instant from = own().getNotBefore().toInstant();
    if (now.isAfter(validUntil()) || now.isBefore(from)) {
      throw new IOException(
          file
              + (now.isAfter(validUntil()) ? " has expired: " : " is not valid yet: ")
              + "it is valid from "
              + from
              + " until "
              + validUntil());
    }
  }

  X509Certificate own() {
    return chain.getFirst();
  }

  Instant validUntil() {
    return own().getNotAfter().toInstant();
  }

  /** Identifies the certificate. */
  @Override
  public String toString() {
    return own().getSubjectX500Principal()
        + ", serial number "
        + own().getSerialNumber().toString(16)
        + ", valid until "
        + validUntil();
  }
}
