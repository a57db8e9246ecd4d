package dev.ashlar.transport.tls;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import javax.net.ssl.SSLException;

/** A TLS connection in memory: what one side has against the other shows without a network. */
final class TlsTrial {
  private final SslHandler handler;
  private final EmbeddedChannel channel;

  /** What is wrong is asked of the handler. */
  private static final class Silent extends ChannelInboundHandlerAdapter {
    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {}
  }

  private TlsTrial(SslHandler handler) {
    this.handler = handler;
    // Nobody is waited for; a busy machine may be slow.
    handler.setHandshakeTimeoutMillis(0);
    channel = new EmbeddedChannel(handler, new Silent());
  }

  /**
   * @param host as which the server is known to the client
   * @throws SSLException what one of them has against the other
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
      throw new SSLException("no handshake with itself", cause);
    }
  }

  private void end() {
    var unused = channel.close();
    channel.releaseOutbound();
  }
}
