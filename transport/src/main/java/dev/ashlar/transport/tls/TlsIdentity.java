package dev.ashlar.transport.tls;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * A certificate with its key, and the authorities that this process trusts. It is checked that
 * peers with the same authorities accept the certificate.
 */
final class TlsIdentity {
  private static final String PROTOCOL = "TLSv1.3";

  private final List<X509Certificate> chain;
  private final PrivateKey key;
  private final TrustManagerFactory trust;
  private final SslContext accepting;

  private TlsIdentity(List<X509Certificate> chain, PrivateKey key, TrustManagerFactory trust)
      throws IOException {
    this.chain = chain;
    this.key = key;
    this.trust = trust;
    accepting =
        SslContextBuilder.forServer(key, chain)
            .trustManager(trust)
            .clientAuth(ClientAuth.REQUIRE)
            .sslProvider(SslProvider.JDK)
            .protocols(PROTOCOL)
            .build();
  }

  /**
   * @param host by which others connect to this process; null: none do
   * @throws IOException naming the file that is wrong
   */
  static TlsIdentity of(TlsFiles files, TlsFiles.TlsTexts texts, @Nullable String host, Instant now)
      throws IOException {
    List<X509Certificate> chain =
        Pem.certificates("certificate", files.certificates(), texts.certificates());
    X509Certificate own = chain.getFirst();
    PrivateKey key = Pem.key(files.key(), texts.key(), own);
    checkPair(files, own, key);
    checkTime(files, own, now);
    List<X509Certificate> authorities =
        Pem.certificates("authorities", files.authorities(), texts.authorities());
    TlsIdentity identity = new TlsIdentity(chain, key, trust(authorities));
    identity.checkAcceptable(files, host);
    return identity;
  }

  private static TrustManagerFactory trust(List<X509Certificate> authorities) throws IOException {
    try {
      KeyStore anchors = KeyStore.getInstance("PKCS12");
      anchors.load(null, null);
      for (int i = 0; i < authorities.size(); i++) {
        anchors.setCertificateEntry("authority-" + i, authorities.get(i));
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(anchors);
      return trust;
    } catch (GeneralSecurityException e) {
      throw new IOException("TLS is not available: " + e.getMessage(), e);
    }
  }

  private static void checkPair(TlsFiles files, X509Certificate own, PrivateKey key)
      throws IOException {
    if (!isPair(key, own.getPublicKey())) {
      throw new IOException(
          "TLS key " + files.key() + " does not belong to the certificate " + files.certificates());
    }
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
    byte[] something = PROTOCOL.getBytes(StandardCharsets.US_ASCII);
    try {
      Signature signing = Signature.getInstance(algorithm);
      signing.initSign(key);
      signing.update(something);
      byte[] signed = signing.sign();
      Signature verifying = Signature.getInstance(algorithm);
      verifying.initVerify(publicKey);
      verifying.update(something);
      return verifying.verify(signed);
    } catch (GeneralSecurityException e) {
      throw new IOException(
          "TLS with " + algorithm + " keys is not available: " + e.getMessage(), e);
    }
  }

  private static void checkTime(TlsFiles files, X509Certificate own, Instant now)
      throws IOException {
    Instant from = own.getNotBefore().toInstant();
    Instant until = own.getNotAfter().toInstant();
    if (now.isAfter(until) || now.isBefore(from)) {
      throw new IOException(
          "TLS certificate "
              + files.certificates()
              + (now.isAfter(until) ? " has expired: " : " is not valid yet: ")
              + "it is valid from "
              + from
              + " until "
              + until);
    }
  }

  /** Tries the certificate on itself, so that a fault shows here and not in the logs of others. */
  private void checkAcceptable(TlsFiles files, @Nullable String host) throws IOException {
    String chosen =
        "TLS certificate " + files.certificates() + " would be refused by other processes";
    try {
      if (host == null) {
        X509Certificate[] shown = chain.toArray(new X509Certificate[0]);
        for (TrustManager each : trust.getTrustManagers()) {
          ((X509TrustManager) each).checkClientTrusted(shown, "UNKNOWN");
        }
      } else {
        chosen += " that connect to " + host;
        TlsTrial.connect(forConnecting(), accepting, host);
      }
    } catch (CertificateException | SSLException e) {
      throw new IOException(
          chosen + " with the authorities of " + files.authorities() + ": " + TlsFaults.reason(e),
          e);
    }
  }

  /** For accepted connections. */
  SslContext forAccepting() {
    return accepting;
  }

  /** For one outgoing connection. New each time, so that no session is resumed unchecked. */
  SslContext forConnecting() throws SSLException {
    return SslContextBuilder.forClient()
        .keyManager(key, chain)
        .trustManager(trust)
        .endpointIdentificationAlgorithm("HTTPS")
        .sslProvider(SslProvider.JDK)
        .protocols(PROTOCOL)
        .build();
  }

  Instant validUntil() {
    return chain.getFirst().getNotAfter().toInstant();
  }

  /** Identifies the certificate. */
  @Override
  public String toString() {
    X509Certificate own = chain.getFirst();
    return own.getSubjectX500Principal()
        + ", serial number "
        + own.getSerialNumber().toString(16)
        + ", valid until "
        + validUntil();
  }

  /** A TLS handshake in memory, which shows why one side would refuse the other. */
  private static final class TlsTrial {
    private final SslHandler handler;
    private final EmbeddedChannel channel;

    /** Errors are read from the handler instead. */
    private static final class Silent extends ChannelInboundHandlerAdapter {
      @Override
      public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {}
    }

    private TlsTrial(SslHandler handler) {
      this.handler = handler;
      // The handshake waits for nobody, but a busy machine may be slow.
      handler.setHandshakeTimeoutMillis(0);
      channel = new EmbeddedChannel(handler, new Silent());
    }

    /**
     * @param host by which the client knows the server
     * @throws SSLException why one side refuses the other
     */
    static void connect(SslContext client, SslContext server, String host) throws IOException {
      UnpooledByteBufAllocator heap = UnpooledByteBufAllocator.DEFAULT;
      TlsTrial accepting = new TlsTrial(server.newHandler(heap));
      TlsTrial connecting = new TlsTrial(client.newHandler(heap, host, 1));
      try {
        boolean isMoving = true;
        while (isMoving) {
          isMoving = connecting.moveTo(accepting);
          isMoving |= accepting.moveTo(connecting);
        }
        connecting.check();
        accepting.check();
      } finally {
        connecting.end();
        accepting.end();
      }
    }

    private boolean moveTo(TlsTrial other) {
      Object sent = channel.readOutbound();
      if (sent == null) {
        return false;
      }
      other.channel.pipeline().fireChannelRead(sent).fireChannelReadComplete();
      return true;
    }

    private void check() throws IOException {
      Throwable cause = handler.handshakeFuture().cause();
      if (cause instanceof IOException io) {
        throw io;
      }
      if (cause != null || !handler.handshakeFuture().isDone()) {
        throw new SSLException("the handshake did not finish", cause);
      }
    }

    private void end() {
      var unused = channel.close();
      channel.releaseOutbound();
    }
  }
}
