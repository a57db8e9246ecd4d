package dev.ashlar.gateway.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequestDecoder;

/** Netty's decoder, made to refuse requests that servers could interpret differently. */
final class RequestDecoder extends HttpRequestDecoder {
  // A body piece is as large as one read from the socket; the decoder need not cut it further.
  private static final int PIECE_BYTES_MAX = 1 << 20;

  private final Connection connection;

  RequestDecoder(HttpConfig.Limits limits, Connection connection) {
    super(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(limits.requestLineBytesMax())
            .setMaxHeaderSize(limits.headerBytesMax())
            .setMaxChunkSize(PIECE_BYTES_MAX)
            .setAllowDuplicateContentLengths(false)
            .setStrictLineParsing(true));
    this.connection = connection;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
    connection.bytesArrived(((ByteBuf) message).readableBytes());
    super.channelRead(ctx, message);
  }

  @Override
  protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
    throw new IllegalArgumentException("Content-Length beside Transfer-Encoding");
  }
}
