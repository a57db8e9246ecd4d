package dev.ashlar.transport.tls;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Stands in front of TLS on an accepted connection: sends an alert to a client without TLS before
 * TLS ends the connection.
 */
public final class WithoutTls extends ChannelInboundHandlerAdapter {
  // If it cannot be sent, the other side has gone.
  @SuppressWarnings("FutureReturnValueIgnored")
  @Override
  public void channelRead(ChannelHandlerContext ctx, Object first) {
    ByteBuf bytes = (ByteBuf) first;
    if (bytes.isReadable() && !TlsFaults.isTls(bytes.getByte(bytes.readerIndex()))) {
      ctx.writeAndFlush(TlsFaults.wrongProtocol());
    }
    ctx.fireChannelRead(first);
    ctx.pipeline().remove(this);
  }
}
