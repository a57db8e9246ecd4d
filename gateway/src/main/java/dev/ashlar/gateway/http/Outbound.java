package dev.ashlar.gateway.http;

import dev.ashlar.gateway.exchange.HttpAnswer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.socket.ChannelOutputShutdownException;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The sending side of a connection, on its event loop: encodes heads, counts unsent bytes, detects
 * clients that receive too slowly.
 */
// The end of the channel is told by the connection's channelInactive.
@SuppressWarnings("FutureReturnValueIgnored")
final class Outbound {

  private final ServerState shared;
  private final AnswerWindow window;
  private final Runnable whenRoom;
  private final ClientTimeouts.ProgressWatch progress = new ClientTimeouts.ProgressWatch();
  private long submittedBytes;

  /**
   * A part of an answer that is handed over at once.
   *
   * @param answer whose head is sent first; null after the first batch
   * @param pieces of a streamed body; owned by the batch
   * @param last whether the answer ends here
   */
  record Batch(
      Exchange exchange, @Nullable HttpAnswer answer, List<ByteBuf> pieces, boolean last) {}

  /**
   * @param whenRoom called each time bytes have been sent
   */
  Outbound(ServerState shared, Runnable whenRoom) {
    this.shared = shared;
    this.window = new AnswerWindow(shared.config.limits().answerWindowBytes());
    this.whenRoom = whenRoom;
  }

  AnswerWindow window() {
    return window;
  }

  boolean hasRoom() {
    return window.unsentBytes() < shared.config.limits().answerWindowBytes();
  }

  /** Answers a request that could not be parsed. */
  void sendRefusal(ChannelHandlerContext ctx, HttpAnswer answer, String requestId) {
    writeUnreserved(
        ctx, shared.encoder.encode(ctx.alloc(), answer, requestId, false, HeadEncoder.CLOSE));
    ctx.flush();
  }

  /**
   * Writes a batch, without a flush.
   *
   * @param keep whether the head, if there is one, leaves the connection open
   */
  void send(ChannelHandlerContext ctx, Batch batch, boolean keep) {
    HttpAnswer answer = batch.answer();
    if (answer != null) {
      writeUnreserved(ctx, encode(ctx, batch.exchange(), answer, keep));
    }
    if (!batch.pieces().isEmpty()) {
      sendPieces(ctx, batch.pieces());
    }
  }

  /** As one buffer, without a copy: each write has an entry, a promise and a listener. */
  private void sendPieces(ChannelHandlerContext ctx, List<ByteBuf> pieces) {
    ByteBuf joined;
    try {
      joined = Unpooled.wrappedBuffer(pieces.size(), pieces.toArray(ByteBuf[]::new));
    } catch (RuntimeException e) { // one was released already
      endIfFaulty(ctx, e);
      return;
    }
    write(ctx, joined, joined.readableBytes());
  }

  /** Runs the action when all bytes so far have been sent or have failed. */
  void whenSent(ChannelHandlerContext ctx, Runnable action) {
    if (window.unsentBytes() == 0 || !ctx.channel().isActive()) {
      action.run();
    } else {
      ctx.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> action.run());
    }
  }

  /** Tells the client, when all is sent, in TLS and then in TCP, that nothing more will come. */
  void finish(ChannelHandlerContext ctx) {
    whenSent(
        ctx,
        () -> {
          SslHandler tls = ctx.pipeline().get(SslHandler.class);
          if (tls == null) {
            shutdownOutput(ctx);
          } else {
            tls.closeOutbound().addListener(written -> shutdownOutput(ctx));
          }
        });
  }

  private static void shutdownOutput(ChannelHandlerContext ctx) {
    if (ctx.channel() instanceof DuplexChannel duplex && duplex.isActive()) {
      duplex.shutdownOutput().addListener(done -> ctx.read());
    }
  }

  /** Whether the client receives too slowly; to be called once per tick. */
  boolean stalled(ChannelHandlerContext ctx, ClientTimeouts.Ticks ticks) {
    if (window.unsentBytes() == 0) {
      progress.reset(submittedBytes);
      return false;
    }
    return progress.stalled(takenBytes(ctx), ticks.stall(), ticks.stallBytesMin());
  }

  private ByteBuf encode(
      ChannelHandlerContext ctx, Exchange exchange, HttpAnswer answer, boolean keep) {
    byte[] kept = exchange.head.http10() ? HeadEncoder.KEEP_ALIVE : HeadEncoder.KEEP;
    // A HEAD must not announce the length of an error document as that of the object.
    HttpAnswer shown =
        exchange.isHead() && answer.body() instanceof HttpAnswer.Bytes
            ? new HttpAnswer(answer.status(), answer.headers(), new HttpAnswer.Empty())
            : answer;
    return shared.encoder.encode(
        ctx.alloc(),
        shown,
        exchange.requestId(),
        exchange.isHead(),
        keep ? kept : HeadEncoder.CLOSE);
  }

  private void writeUnreserved(ChannelHandlerContext ctx, ByteBuf bytes) {
    int size = bytes.readableBytes();
    window.add(size);
    write(ctx, bytes, size);
  }

  private void write(ChannelHandlerContext ctx, ByteBuf bytes, int size) {
    submittedBytes += size;
    ctx.write(bytes)
        .addListener(
            written -> {
              endIfFaulty(ctx, written.cause());
              sent(size);
            });
  }

  /**
   * Closes after a failure of the server, which may leave the channel open and the client waiting.
   */
  private void endIfFaulty(ChannelHandlerContext ctx, @Nullable Throwable cause) {
    if (cause != null && !(reason(cause) instanceof IOException)) {
      shared.unsent.log(
          "An answer to " + ctx.channel().remoteAddress() + " could not be sent.", cause);
      ctx.close();
    }
  }

  /** The cause without Netty's wrapper for channels whose output is shut down. */
  private static Throwable reason(Throwable failure) {
    Throwable cause = failure.getCause();
    return failure instanceof ChannelOutputShutdownException && cause != null ? cause : failure;
  }

  private void sent(int bytes) {
    shared.metrics.sentBytes.add(bytes);
    window.sent(bytes);
    whenRoom.run();
  }

  /** Bytes that the kernel has accepted for the client. */
  private long takenBytes(ChannelHandlerContext ctx) {
    ChannelOutboundBuffer waiting = ctx.channel().unsafe().outboundBuffer();
    return waiting == null
        ? submittedBytes
        : submittedBytes - waiting.totalPendingWriteBytes() + waiting.currentProgress();
  }
}
