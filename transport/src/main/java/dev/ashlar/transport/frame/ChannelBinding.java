package dev.ashlar.transport.frame;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.cert.Certificate;
import java.security.cert.CertificateEncodingException;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/**
 * A value that both ends of one TLS connection share and a man in the middle cannot reproduce: the
 * certificates of both sides, whose private keys he does not have. (The exporter value of RFC 9266
 * is available from JDK 25 only.)
 */
final class ChannelBinding {
  private ChannelBinding() {}

  /**
   * SHA-256 of the server's certificate, then of the client's.
   *
   * @throws SSLPeerUnverifiedException when one side has presented none
   */
  static byte[] of(SSLEngine engine) throws SSLPeerUnverifiedException {
    SSLSession session = engine.getSession();
    Certificate[] local = session.getLocalCertificates();
    Certificate[] peer = session.getPeerCertificates();
    if (local == null) {
      throw new SSLPeerUnverifiedException("this side presented no certificate");
    }
    boolean isClient = engine.getUseClientMode();
    byte[] server = digest(isClient ? peer[0] : local[0]);
    byte[] client = digest(isClient ? local[0] : peer[0]);
    byte[] both = new byte[server.length + client.length];
    System.arraycopy(server, 0, both, 0, server.length);
    System.arraycopy(client, 0, both, server.length, client.length);
    return both;
  }

  private static byte[] digest(Certificate certificate) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(certificate.getEncoded());
    } catch (NoSuchAlgorithmException | CertificateEncodingException e) {
      throw new IllegalStateException(e);
    }
  }
}
