package dev.ashlar.transport.tls;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import javax.net.ssl.SSLException;

/** A TLS handshake in memory, which shows why one side would refuse the other. */
final class TlsTrial {
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
