package dev.ashlar.gateway.http;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client connection, on its channel's event loop. Other threads use its {@link #port}.
 *
 * <p>One request at a time: head → (body collected) → thread runs → answer handed out, and the
 * body's end seen → next. What a pipelining client sends ahead waits in {@link #ahead}; the socket
 * is not read while something waits there.
 */
// A write or close that fails ends the channel, and channelInactive tells.
@SuppressWarnings("FutureReturnValueIgnored")
final class Connection extends ChannelInboundHandlerAdapter {
  private static final Logger LOG = LoggerFactory.getLogger(Connection.class);
  private static final ByteBuf CONTINUE =
      Unpooled.unreleasableBuffer(
          Unpooled.directBuffer()
              .writeBytes("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII))
              // A TLS handler appends the next bytes to a buffer that has room for them.
              .asReadOnly());

  private final ServerState shared;
  private final ConnectionHandle port;
  private final Outbound outbound;
  private final ArrayDeque<Object> ahead = new ArrayDeque<>(2);
  private final ClientTimeouts patience = new ClientTimeouts();
  private @Nullable ChannelHandlerContext context;
  private @Nullable Exchange current;
  // No further request will be taken.
  private boolean closing;
  // The last answer is out; only the client's end is awaited.
  private boolean lingering;
  private boolean taking;

  Connection(ServerState shared) {
    this.shared = shared;
    this.outbound = new Outbound(shared, this::answerTaken);
    this.port = new ConnectionHandle(this, outbound.window(), shared.admission());
  }

  ConnectionHandle port() {
    return port;
  }

  // ---- Bytes arriving ----

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    context = ctx;
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    shared.opened(this);
    ctx.read();
  }

  void bytesArrived(int bytes) {
    shared.metrics().received(bytes);
    patience.received(bytes, current == null);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    // Closing, the decoder hands out what it could not finish.
    if (closing || !ctx.channel().isActive()) {
      ReferenceCountUtil.release(message);
    } else {
      ahead.add(message);
      takeAhead();
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    readOn();
  }

  private void readOn() {
    if (wantsToRead()) {
      context().read();
    }
  }

  private boolean wantsToRead() {
    Exchange exchange = current;
    if (closing) {
      return true;
    }
    if (exchange == null) {
      return ahead.isEmpty();
    }
    return exchange.wantsBytes();
  }

  /** Goes on with what has been received, as far as the present request allows. */
  private void takeAhead() {
    if (taking) {
      return;
    }
    taking = true;
    while (!closing && !ahead.isEmpty() && mayTake(ahead.peek())) {
      take(ahead.poll());
    }
    taking = false;
  }

  private boolean mayTake(Object message) {
    if (message instanceof HttpRequest) {
      // A client that sends requests and reads no answers waits here.
      return current == null && outbound.hasRoom();
    }
    return current != null && !current.bodyEnded;
  }

  private void take(Object message) {
    if (message instanceof HttpRequest request) {
      begin(request);
    } else {
      content((HttpContent) message);
    }
  }

  private void begin(HttpRequest request) {
    patience.headEnded();
    String requestId = shared.nextRequestId();
    RequestHead head;
    try {
      head = RequestHead.parse(request);
    } catch (S3Exception malformed) {
      refuse(malformed, requestId);
      return;
    }
    HttpConfig.Limits limits = shared.config().limits();
    long length = head.bodyLength();
    long reservation =
        length < 0 ? limits.bodyWindowBytes() : Math.min(length, limits.bodyWindowBytes());
    BodyQueue body = new BodyQueue(length, limits.bodyWindowBytes(), port::resumeReading);
    Exchange exchange = new Exchange(head, body, requestId, shared.budget());
    current = exchange;
    if (!exchange.reserve(reservation)) {
      overloaded(exchange);
      return;
    }
    exchange.collecting =
        length >= 0 && length <= limits.collectBytesMax() && !head.expectsContinue();
    if (!exchange.collecting) {
      start(exchange);
    }
  }

  private void content(HttpContent content) {
    Exchange exchange = current;
    if (exchange == null) {
      content.release();
      return;
    }
    if (content.decoderResult().isFailure()) {
      content.release();
      brokenOff(new S3Exception(S3Error.BAD_REQUEST));
      return;
    }
    exchange.received(content.content());
    if (content instanceof LastHttpContent) {
      exchange.bodyEnded = true;
      exchange.queue().end();
      if (exchange.collecting) {
        start(exchange);
      }
      finishIfDone();
    } else if (exchange.drainedBytes() > shared.config().limits().drainBytesMax()) {
      close();
    }
  }

  /** The rest of the body cannot be had; nothing after it on this connection has a meaning. */
  private void brokenOff(S3Exception cause) {
    Exchange exchange = current;
    if (exchange == null || exchange.answered) {
      close();
      return;
    }
    exchange.broken = true;
    if (exchange.collecting) {
      answerOnLoop(exchange, cause);
    } else {
      exchange.queue().fail(cause);
    }
  }

  /** The request's thread wants more of its body than has arrived. */
  void resumeReading() {
    Exchange exchange = current;
    if (exchange != null && !exchange.answered && !closing) {
      if (exchange.owesContinue()) {
        context().writeAndFlush(CONTINUE.duplicate());
      }
      context().read();
    }
  }

  private void start(Exchange exchange) {
    exchange.collecting = false;
    if (!shared.admission().tryAcquire()) {
      overloaded(exchange);
      return;
    }
    exchange.thread = Thread.ofVirtual().unstarted(new RequestTask(port, exchange, shared));
    exchange.thread.start();
  }

  // ---- Answers leaving ----

  /**
   * An answer to a request that could not be read: where it ends is unknown, so this is the end.
   */
  private void refuse(S3Exception malformed, String requestId) {
    shared.metrics().malformed();
    HttpAnswer answer = shared.errorAnswer(malformed, "", requestId);
    outbound.sendRefusal(context(), answer, requestId);
    closeGently();
  }

  private void overloaded(Exchange exchange) {
    shared.metrics().rejected();
    answerOnLoop(exchange, new S3Exception(S3Error.SLOW_DOWN));
  }

  private void answerOnLoop(Exchange exchange, S3Exception error) {
    exchange.collecting = false;
    exchange.queue().close();
    HttpAnswer answer = shared.errorAnswer(error, exchange.rawPath(), exchange.requestId());
    send(new AnswerBatch(exchange, answer, List.of(), 0, true));
    releaseWhenSent(exchange);
  }

  void send(AnswerBatch batch) {
    boolean keep =
        batch.answer() == null
            || (!shared.closing()
                && batch.exchange().mayKeep(shared.config().limits().drainBytesMax()));
    outbound.send(context(), batch, keep);
    closing |= !keep;
    if (batch.last()) {
      batch.exchange().answered = true;
      if (closing) {
        closeGently();
      } else {
        finishIfDone();
        readOn();
      }
    }
  }

  private void answerTaken() {
    if (current == null && !ahead.isEmpty()) {
      takeAhead();
      readOn();
    }
  }

  /** Gives the request's memory back when the last byte of its answer has left it. */
  void releaseWhenSent(Exchange exchange) {
    outbound.whenSent(context(), exchange::releaseReservation);
  }

  private void finishIfDone() {
    if (current != null && current.answered && current.bodyEnded && !closing) {
      current = null;
      patience.requestEnded(!ahead.isEmpty());
      if (shared.closing() && ahead.isEmpty()) {
        closeGently();
        return;
      }
      takeAhead();
    }
  }

  // ---- The end ----

  /** Lets the client read our last answer before its unread bytes make the kernel reset us. */
  private void closeGently() {
    closing = true;
    lingering = true;
    patience.lingers();
    releaseAhead();
    outbound.whenSent(context(), this::endOutput);
  }

  /** Tells the client, in TLS and then in TCP, that nothing more will come. */
  private void endOutput() {
    SslHandler tls = context().pipeline().get(SslHandler.class);
    if (tls == null) {
      shutdownOutput();
    } else {
      tls.closeOutbound().addListener(written -> shutdownOutput());
    }
  }

  private void shutdownOutput() {
    if (context().channel() instanceof DuplexChannel duplex && duplex.isActive()) {
      duplex.shutdownOutput().addListener(done -> context().read());
    }
  }

  void close() {
    closing = true;
    context().close();
  }

  /** Idle connections go at once, others after their answer. */
  void shutDown(boolean force) {
    if (force || current == null) {
      close();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    shared.closed(this);
    closing = true;
    releaseAhead();
    outbound.window().clientGone();
    Exchange exchange = current;
    if (exchange != null) {
      exchange.queue().fail(new S3Exception(S3Error.INCOMPLETE_BODY));
      if (exchange.collecting) {
        exchange.queue().close();
        exchange.releaseReservation();
      } else if (shared.closing() && exchange.thread != null) {
        exchange.thread.interrupt();
      }
    }
  }

  private void releaseAhead() {
    ahead.forEach(ReferenceCountUtil::release);
    ahead.clear();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    // The decoders wrap what is wrong with the bytes of a client that speaks no TLS.
    Throwable reason = cause instanceof DecoderException ? cause.getCause() : cause;
    if (!(reason instanceof IOException)) {
      LOG.warn("connection from {} failed", ctx.channel().remoteAddress(), cause);
    }
    ctx.close();
  }

  // ---- Time ----

  EventExecutor loop() {
    return context().executor();
  }

  /** A regular look at how long the client has kept us waiting. */
  void tick(TimeoutTicks ticks) {
    if (outbound.stalled(context(), ticks)) {
      context().close();
      return;
    }
    boolean unsent = outbound.window().unsentBytes() > 0;
    switch (patience.look(ticks, waiting(), unsent, !ahead.isEmpty())) {
      case WAIT -> {}
      case CLOSE -> close();
      case HEAD_TOO_SLOW ->
          refuse(new S3Exception(S3Error.REQUEST_TIMEOUT), shared.nextRequestId());
      case BODY_TOO_SLOW -> brokenOff(new S3Exception(S3Error.REQUEST_TIMEOUT));
    }
  }

  private ClientTimeouts.Waiting waiting() {
    if (closing) {
      return lingering ? ClientTimeouts.Waiting.END : ClientTimeouts.Waiting.NOTHING;
    }
    if (current == null) {
      return ClientTimeouts.Waiting.REQUEST;
    }
    return current.wantsBytes() ? ClientTimeouts.Waiting.BODY : ClientTimeouts.Waiting.NOTHING;
  }

  private ChannelHandlerContext context() {
    ChannelHandlerContext ctx = context;
    if (ctx == null) {
      throw new IllegalStateException("not in a pipeline");
    }
    return ctx;
  }
}
