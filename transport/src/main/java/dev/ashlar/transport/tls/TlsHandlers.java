package dev.ashlar.transport.tls;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SniHandler;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslCompletionEvent;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.Mapping;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** What stands in front of HTTP on an accepted connection with TLS. */
// A write or close that fails ends the channel all the same.
@SuppressWarnings("FutureReturnValueIgnored")
final class TlsHandlers {
  private static final int CLIENT_HELLO_BYTES_MAX = 64 << 10;

  private static final int REASON_LENGTH_MAX = 200;

  private TlsHandlers() {}

  /**
   * @param certificate for the host that the client asks for; null if for none
   * @param handshake the longest that a client may take, for its first message and for the rest
   * @param refusals is told why a client was refused
   */
  static void addFirst(
      ChannelPipeline pipeline,
      Mapping<@Nullable String, SslContext> certificate,
      Duration handshake,
      Consumer<String> refusals) {
    pipeline.addFirst(
        new PlainTextRefusal(refusals),
        new Selection(certificate, handshake.toMillis()),
        new Failures(refusals));
  }

  private static String of(ChannelHandlerContext ctx) {
    return "TLS connection of " + ctx.channel().remoteAddress() + " refused: ";
  }

  /** Messages may quote what the client has sent. */
  private static String reason(Throwable cause) {
    String message = String.valueOf(cause.getMessage());
    return message.substring(0, Math.min(message.length(), REASON_LENGTH_MAX));
  }

  /** Looks at the first byte of a connection: answers clients without TLS instead of TLS. */
  private static final class PlainTextRefusal extends ChannelInboundHandlerAdapter {
    private static final String TEXT = "This port serves HTTPS only: use https:// in the URL.\n";
    private static final ByteBuf ANSWER =
        Unpooled.unreleasableBuffer(
            Unpooled.copiedBuffer(
                    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: "
                        + TEXT.length()
                        + "\r\nConnection: close\r\n\r\n"
                        + TEXT,
                    StandardCharsets.US_ASCII)
                .asReadOnly());

    private final Consumer<String> refusals;
    private boolean isRefused;

    PlainTextRefusal(Consumer<String> refusals) {
      this.refusals = refusals;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      ByteBuf bytes = (ByteBuf) message;
      if (isRefused) {
        bytes.release();
      } else if (!bytes.isReadable() || TlsFaults.isTls(bytes.getByte(bytes.readerIndex()))) {
        ctx.fireChannelRead(bytes);
        ctx.pipeline().remove(this);
      } else {
        isRefused = true;
        refusals.accept(of(ctx) + "it does not use TLS");
        bytes.release();
        ctx.writeAndFlush(ANSWER.duplicate()).addListener(ChannelFutureListener.CLOSE);
      }
    }
  }

  /** Replaces itself by TLS with the certificate that the client asks for. */
  private static final class Selection extends SniHandler {
    Selection(Mapping<@Nullable String, SslContext> certificate, long timeoutMs) {
      super(certificate, CLIENT_HELLO_BYTES_MAX, timeoutMs);
    }

    @Override
    protected SslHandler newSslHandler(SslContext context, ByteBufAllocator allocator) {
      SslHandler handler = super.newSslHandler(context, allocator);
      handler.setHandshakeTimeoutMillis(handshakeTimeoutMillis);
      return handler;
    }
  }

  /** Ends connections whose client breaks TLS, without a trace in the log. */
  private static final class Failures extends ChannelInboundHandlerAdapter {
    private final Consumer<String> refusals;

    Failures(Consumer<String> refusals) {
      this.refusals = refusals;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
      // A client that has gone, such as a probe of a load balancer, is nothing to tell.
      if (event instanceof SslCompletionEvent end
          && !(event instanceof SslCloseCompletionEvent)
          && end.cause() != null
          && ctx.channel().isActive()) {
        refusals.accept(of(ctx) + reason(end.cause()));
      }
      ctx.fireUserEventTriggered(event);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      if (cause instanceof DecoderException) {
        // The event has told of what TLS itself found.
        if (!(cause.getCause() instanceof SSLException)) {
          refusals.accept(of(ctx) + reason(cause));
        }
        ctx.close();
      } else {
        ctx.fireExceptionCaught(cause);
      }
    }
  }
}
