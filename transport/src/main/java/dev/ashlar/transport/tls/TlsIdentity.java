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
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Clock;
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

  private final CertifiedKey own;
  private final TrustManagerFactory trust;
  private final SslContext accepting;

  private TlsIdentity(CertifiedKey own, TrustManagerFactory trust) throws IOException {
    this.own = own;
    this.trust = trust;
    accepting =
        SslContextBuilder.forServer(own.key(), own.chain())
            .trustManager(trust)
            .clientAuth(ClientAuth.REQUIRE)
            .sslProvider(SslProvider.JDK)
            .protocols(PROTOCOL)
            .build();
  }

  /**
   * Follows the files.
   *
   * @param host by which others connect to this process; null: none do
   * @throws IOException naming the file that is wrong
   */
  static FollowedFiles<TlsIdentity> follow(TlsFiles files, @Nullable String host, Clock clock)
      throws IOException {
    return new FollowedFiles<>(
        List.of(files.own().certificateFile(), files.own().keyFile(), files.authorityFile()),
        texts -> {
          CertifiedKey own =
              CertifiedKey.of(files.own(), texts.get(0), texts.get(1), clock.instant());
          TlsIdentity identity =
              new TlsIdentity(own, Authorities.parse(files.authorityFile(), texts.get(2)).trust());
          identity.checkAcceptable(files, host);
          return identity;
        });
  }

  /** Tries the certificate on itself, so that a fault shows here and not in the logs of others. */
  private void checkAcceptable(TlsFiles files, @Nullable String host) throws IOException {
    String chosen =
        "TLS certificate " + files.certificates() + " would be refused by other processes";
    try {
      if (host == null) {
        X509Certificate[] shown = own.chain().toArray(new X509Certificate[0]);
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
        .keyManager(own.key(), own.chain())
        .trustManager(trust)
        .endpointIdentificationAlgorithm("HTTPS")
        .sslProvider(SslProvider.JDK)
        .protocols(PROTOCOL)
        .build();
  }

  Instant validUntil() {
    return own.validUntil();
  }

  @Override
  public String toString() {
    return own.toString();
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
