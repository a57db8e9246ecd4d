package dev.ashlar.gateway.http;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.Client;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.TlsParameters;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * One client connection. It runs on the event loop of its channel; other threads use {@link
 * #handle}.
 *
 * <p>It serves one request at a time: head, short body collected, request task, answer, end of the
 * body. Messages of pipelined requests wait in {@link #pipelined}, and the socket is not read while
 * some are there.
 */
// A write or close that fails ends the channel, and channelInactive tells.
@SuppressWarnings("FutureReturnValueIgnored")
final class Connection extends ChannelInboundHandlerAdapter {
  private static final ByteBuf CONTINUE =
      Unpooled.unreleasableBuffer(
          Unpooled.directBuffer()
              .writeBytes("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII))
              // A TLS handler appends the next bytes to a buffer that has room for them.
              .asReadOnly());

  private final ServerState shared;
  private final boolean encrypted;
  private final ConnectionHandle handle;
  private final Outbound outbound;
  private final ArrayDeque<Object> pipelined = new ArrayDeque<>(2);
  private final ClientTimeouts timeouts = new ClientTimeouts();

  /** Batches that other threads have handed over and the loop has not taken. */
  private final AtomicInteger announced = new AtomicInteger();

  private @Nullable ChannelHandlerContext context;
  private @Nullable Client client;
  private @Nullable TlsParameters tls;
  private @Nullable Exchange current;
  // No further request is accepted.
  private boolean closing;

  /** Whether there was no request when the closing server last looked. */
  private boolean wasIdle;

  // The last answer is sent; the client is to close its side.
  private boolean lingering;
  private boolean taking;

  /**
   * @param encrypted whether it uses TLS
   */
  Connection(ServerState shared, boolean encrypted) {
    this.shared = shared;
    this.encrypted = encrypted;
    this.outbound = new Outbound(shared, this::answerTaken);
    this.handle = new ConnectionHandle(this, outbound.window(), shared.admission);
  }

  boolean encrypted() {
    return encrypted;
  }

  ConnectionHandle handle() {
    return handle;
  }

  // ---- Bytes arriving ----

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    context = ctx;
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    shared.connections.add(this);
    if (ctx.channel().remoteAddress() instanceof InetSocketAddress remote) {
      client = Client.of(remote, encrypted);
      ctx.read();
    } else {
      ctx.close(); // the client has gone already
    }
  }

  void bytesArrived(int bytes) {
    shared.metrics.receivedBytes.add(bytes);
    timeouts.received(bytes, current == null);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    // A decoder that is removed emits what it could not finish.
    if (closing || !ctx.channel().isActive()) {
      ReferenceCountUtil.release(message);
    } else {
      pipelined.add(message);
      takePipelined();
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
      return pipelined.isEmpty();
    }
    return exchange.wantsBytes();
  }

  /** Processes queued messages as far as the current request allows. */
  private void takePipelined() {
    if (taking) {
      return;
    }
    taking = true;
    while (!closing && !pipelined.isEmpty() && mayTake(pipelined.peek())) {
      take(pipelined.poll());
    }
    taking = false;
  }

  private boolean mayTake(Object message) {
    if (message instanceof HttpRequest) {
      // A client that sends requests without reading answers is stopped here.
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
    timeouts.headEnded();
    String requestId = shared.nextRequestId();
    RequestHead head;
    try {
      head = RequestHead.parse(request);
    } catch (S3Exception malformed) {
      refuse(malformed, requestId);
      return;
    }
    HttpConfig.Limits limits = shared.config.limits();
    long length = head.bodyLength();
    long reservation =
        length < 0 ? limits.bodyWindowBytes() : Math.min(length, limits.bodyWindowBytes());
    BodyQueue body = new BodyQueue(length, limits.bodyWindowBytes(), handle::resumeReading);
    Exchange exchange =
        new Exchange(
            head,
            new Exchange.ClientConnection(client(), tls(), shared.hostId()),
            body,
            requestId,
            shared.budget,
            shared.auditEvent(head, client(), requestId));
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

  /** As the handshake, which is over, has chosen it; null: there is none. */
  private @Nullable TlsParameters tls() {
    if (encrypted && tls == null) {
      SslHandler handler = context().pipeline().get(SslHandler.class);
      if (handler != null) {
        SSLSession session = handler.engine().getSession();
        tls = new TlsParameters(session.getProtocol(), session.getCipherSuite());
      }
    }
    return tls;
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
      exchange.body().end();
      if (exchange.collecting) {
        start(exchange);
      }
      finishIfDone();
    } else if (exchange.drainedBytes() > shared.config.limits().drainBytesMax()) {
      close();
    }
  }

  /** The rest of the body will not arrive, so nothing after it on this connection can be parsed. */
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
      exchange.body().fail(cause);
    }
  }

  /** The request's thread waits for more of its body. */
  void resumeReading() {
    Exchange exchange = current;
    if (exchange != null && !exchange.answered && !closing) {
      if (exchange.takeContinue()) {
        context().writeAndFlush(CONTINUE.duplicate());
      }
      context().read();
    }
  }

  private void start(Exchange exchange) {
    exchange.collecting = false;
    if (!shared.admission.tryAcquire()) {
      overloaded(exchange);
      return;
    }
    exchange.thread =
        RequestThread.of(exchange.requestId(), new RequestTask(handle, exchange, shared));
    exchange.thread.start();
  }

  // ---- Answers leaving ----

  /** Answers a request that cannot be parsed. Its end is unknown, so the connection ends too. */
  private void refuse(S3Exception malformed, String requestId) {
    shared.metrics.malformedRequests.increment();
    HttpAnswer answer = shared.errorAnswer(malformed, "", requestId);
    outbound.sendRefusal(context(), answer, requestId);
    closeGently();
  }

  /** Answers a client that begins with TLS where there is none; clients tell that apart. */
  void withoutTls() {
    refuse(new S3Exception(S3Error.BAD_REQUEST), shared.nextRequestId());
  }

  private void overloaded(Exchange exchange) {
    shared.metrics.rejectedRequests.increment();
    answerOnLoop(exchange, new S3Exception(S3Error.SLOW_DOWN));
  }

  private void answerOnLoop(Exchange exchange, S3Exception error) {
    exchange.collecting = false;
    exchange.body().close();
    HttpAnswer answer = shared.errorAnswer(error, exchange.rawPath(), exchange.requestId());
    send(new Outbound.Batch(exchange, answer, List.of(), true), true);
    releaseWhenSent(exchange);
  }

  /** Another thread is about to have this loop send a batch. */
  void announce() {
    announced.incrementAndGet();
  }

  /** Sends an announced batch. If the next one is announced already, both leave with one flush. */
  void sendAnnounced(Outbound.Batch batch) {
    send(batch, announced.decrementAndGet() == 0);
  }

  private void send(Outbound.Batch batch, boolean flush) {
    boolean keep =
        batch.answer() == null
            || (!shared.closing()
                && batch.exchange().mayKeep(shared.config.limits().drainBytesMax()));
    outbound.send(context(), batch, keep);
    if (flush) {
      context().flush();
    }
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
    if (current == null && !pipelined.isEmpty()) {
      takePipelined();
      readOn();
    }
  }

  /** Releases the request's memory when the last byte of its answer has been sent. */
  void releaseWhenSent(Exchange exchange) {
    outbound.whenSent(context(), exchange::releaseReservation);
  }

  private void finishIfDone() {
    if (current != null && current.answered && current.bodyEnded && !closing) {
      current = null;
      wasIdle = false;
      timeouts.requestEnded(!pipelined.isEmpty());
      takePipelined();
    }
  }

  // ---- The end ----

  /** Closes after the client has read the last answer: closing with unread input would reset it. */
  private void closeGently() {
    closing = true;
    lingering = true;
    timeouts.lingers();
    releasePipelined();
    outbound.finish(context());
  }

  void close() {
    closing = true;
    context().close();
  }

  /**
   * Closes the connection if it has been idle since the last call, or at once. An answer that
   * begins while the server closes ends its connection by itself.
   */
  void shutDown(boolean force) {
    if (force || (wasIdle && current == null)) {
      close();
    }
    wasIdle = current == null;
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    shared.connections.remove(this);
    closing = true;
    releasePipelined();
    outbound.window().clientGone();
    Exchange exchange = current;
    if (exchange != null) {
      exchange.body().fail(new S3Exception(S3Error.INCOMPLETE_BODY));
      if (exchange.collecting) {
        exchange.body().close();
        exchange.releaseReservation();
      } else if (shared.closing() && exchange.thread != null) {
        exchange.thread.interrupt();
      }
    }
  }

  private void releasePipelined() {
    pipelined.forEach(ReferenceCountUtil::release);
    pipelined.clear();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    // The decoders wrap what is wrong with the bytes of a client that speaks no TLS.
    Throwable reason = cause instanceof DecoderException ? cause.getCause() : cause;
    if (!(reason instanceof IOException)) {
      shared.failures.log("Connection from " + ctx.channel().remoteAddress() + " failed", cause);
    }
    ctx.close();
  }

  // ---- Time ----

  EventExecutor loop() {
    return context().executor();
  }

  /** Checks the timeouts of the client. */
  void tick(ClientTimeouts.Ticks ticks) {
    if (outbound.stalled(context(), ticks)) {
      context().close();
      return;
    }
    boolean unsent = outbound.window().unsentBytes() > 0;
    switch (timeouts.check(ticks, waiting(), unsent, !pipelined.isEmpty())) {
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

  private Client client() {
    Client from = client;
    if (from == null) {
      throw new IllegalStateException("not active");
    }
    return from;
  }

  private ChannelHandlerContext context() {
    ChannelHandlerContext ctx = context;
    if (ctx == null) {
      throw new IllegalStateException("not in a pipeline");
    }
    return ctx;
  }
}
