package dev.ashlar.gateway.http;

import dev.ashlar.gateway.s3.S3Error;
import dev.ashlar.gateway.s3.S3Exception;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client connection. Everything here runs on the channel's event loop but {@link #submit},
 * {@link #ended}, {@link #abort} and {@link #window}, which the request's thread calls.
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
              .writeBytes("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));

  private final ServerState shared;
  private final AnswerWindow window;
  private final ArrayDeque<Object> ahead = new ArrayDeque<>(2);
  private final ProgressWatch bodyProgress = new ProgressWatch();
  private final ProgressWatch answerProgress = new ProgressWatch();
  private @Nullable ChannelHandlerContext context;
  private @Nullable Exchange current;
  private boolean collecting;
  private boolean bodyEnded;
  private boolean answered;
  private boolean continueSent;
  // The rest of the body cannot be had.
  private boolean broken;
  // No further request will be taken.
  private boolean closing;
  // The last answer is out; only the client's end is awaited.
  private boolean lingering;
  private boolean taking;
  private boolean headBegun;
  private long bodyBytes;
  private long drainedBytes;
  private long receivedBytes;
  private long submittedBytes;
  private int idleTicks;

  Connection(ServerState shared) {
    this.shared = shared;
    this.window = new AnswerWindow(shared.config().limits().answerWindowBytes());
  }

  // ---- From the request's thread ----

  AnswerWindow window() {
    return window;
  }

  void submit(Batch batch) {
    onLoop(() -> send(batch), () -> batch.pieces().forEach(ByteBuf::release));
  }

  void ended(Exchange exchange) {
    shared.admission().release();
    onLoop(() -> releaseWhenSent(exchange), exchange::releaseReservation);
  }

  void abort() {
    onLoop(() -> context().close(), () -> {});
  }

  private void onLoop(Runnable task, Runnable whenLoopIsGone) {
    try {
      context().executor().execute(task);
    } catch (RejectedExecutionException shutDown) {
      whenLoopIsGone.run();
    }
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
    receivedBytes += bytes;
    shared.metrics().received(bytes);
    if (current == null && !headBegun) {
      headBegun = true;
      idleTicks = 0;
    }
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
    if (bodyEnded) {
      return false;
    }
    return collecting || answered || exchange.queue().hasRoom();
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
      return current == null && window.unsentBytes() < shared.config().limits().answerWindowBytes();
    }
    return current != null && !bodyEnded;
  }

  private void take(Object message) {
    if (message instanceof HttpRequest request) {
      begin(request);
    } else {
      content((HttpContent) message);
    }
  }

  private void begin(HttpRequest request) {
    headBegun = false;
    continueSent = false;
    answered = false;
    bodyEnded = false;
    broken = false;
    bodyBytes = 0;
    drainedBytes = 0;
    bodyProgress.reset(receivedBytes);
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
    boolean reserved = shared.budget().tryReserve(reservation);
    BodyQueue body = new BodyQueue(length, limits.bodyWindowBytes(), this::resumeReading);
    Exchange exchange =
        new Exchange(head, body, requestId, shared.budget(), reserved ? reservation : 0);
    current = exchange;
    if (!reserved) {
      overloaded(exchange);
      return;
    }
    collecting = length >= 0 && length <= limits.collectBytesMax() && !head.expectsContinue();
    if (!collecting) {
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
    int bytes = content.content().readableBytes();
    bodyBytes += bytes;
    if (answered) {
      drainedBytes += bytes;
    }
    exchange.queue().offer(content.content());
    if (content instanceof LastHttpContent) {
      bodyEnded = true;
      exchange.queue().end();
      if (collecting) {
        start(exchange);
      }
      finishIfDone();
    } else if (drainedBytes > shared.config().limits().drainBytesMax()) {
      close();
    }
  }

  /** The rest of the body cannot be had; nothing after it on this connection has a meaning. */
  private void brokenOff(S3Exception cause) {
    broken = true;
    Exchange exchange = current;
    if (exchange == null || answered) {
      close();
    } else if (collecting) {
      answerOnLoop(exchange, cause);
    } else {
      exchange.queue().fail(cause);
    }
  }

  private void resumeReading() {
    onLoop(
        () -> {
          Exchange exchange = current;
          if (exchange == null || answered || closing) {
            return;
          }
          if (exchange.head().expectsContinue() && !continueSent && bodyBytes == 0 && !bodyEnded) {
            continueSent = true;
            context().writeAndFlush(CONTINUE.duplicate());
          }
          context().read();
        },
        () -> {});
  }

  private void start(Exchange exchange) {
    collecting = false;
    if (!shared.admission().tryAcquire()) {
      overloaded(exchange);
      return;
    }
    exchange.thread = Thread.ofVirtual().unstarted(new RequestRun(this, exchange, shared));
    exchange.thread.start();
  }

  // ---- Answers leaving ----

  /**
   * An answer to a request that could not be read: where it ends is unknown, so this is the end.
   */
  private void refuse(S3Exception malformed, String requestId) {
    shared.metrics().malformed();
    HttpAnswer answer = ErrorDocument.render(malformed, "", requestId, shared.hostId());
    ByteBuf bytes =
        shared
            .encoder()
            .encode(
                context().alloc(), answer, requestId, false, HeadEncoder.ConnectionHeader.CLOSE);
    write(bytes, bytes.readableBytes());
    context().flush();
    closeGently();
  }

  private void overloaded(Exchange exchange) {
    shared.metrics().rejected();
    answerOnLoop(exchange, new S3Exception(S3Error.SLOW_DOWN));
  }

  private void answerOnLoop(Exchange exchange, S3Exception error) {
    collecting = false;
    exchange.queue().close();
    HttpAnswer answer =
        ErrorDocument.render(error, exchange.rawPath(), exchange.requestId(), shared.hostId());
    send(new Batch(exchange, answer, List.of(), 0, true));
    releaseWhenSent(exchange);
  }

  private void send(Batch batch) {
    boolean keep = true;
    HttpAnswer answer = batch.answer();
    ByteBuf head = null;
    if (answer != null) {
      keep = mayKeep(batch.exchange());
      head = encode(batch.exchange(), answer, keep);
    }
    List<ByteBuf> pieces = batch.pieces();
    if (head != null) {
      write(head, head.readableBytes());
    }
    for (ByteBuf piece : pieces) {
      int bytes = piece.readableBytes();
      submittedBytes += bytes;
      context().write(piece).addListener(written -> sent(bytes));
    }
    context().flush();
    closing |= !keep;
    if (batch.last()) {
      answered = true;
      if (closing) {
        closeGently();
      } else {
        finishIfDone();
        readOn();
      }
    }
  }

  private ByteBuf encode(Exchange exchange, HttpAnswer answer, boolean keep) {
    HeadEncoder.ConnectionHeader connection =
        !keep
            ? HeadEncoder.ConnectionHeader.CLOSE
            : exchange.head().http10()
                ? HeadEncoder.ConnectionHeader.KEEP_ALIVE
                : HeadEncoder.ConnectionHeader.NONE;
    HttpAnswer shown =
        exchange.isHead() && answer.body() instanceof HttpAnswer.Bytes
            ? new HttpAnswer(answer.status(), answer.headers(), new HttpAnswer.Empty())
            : answer;
    return shared
        .encoder()
        .encode(context().alloc(), shown, exchange.requestId(), exchange.isHead(), connection);
  }

  /** Whether the connection can serve another request after this answer. */
  private boolean mayKeep(Exchange exchange) {
    if (!exchange.head().persistent() || broken || shared.closing()) {
      return false;
    }
    if (bodyEnded) {
      return true;
    }
    // A client that still waits for our 100 may or may not send its body after another answer.
    boolean bodyUncertain = exchange.head().expectsContinue() && bodyBytes == 0;
    long length = exchange.head().bodyLength();
    return !bodyUncertain
        && length >= 0
        && length - bodyBytes <= shared.config().limits().drainBytesMax();
  }

  private void write(ByteBuf bytes, int size) {
    window.add(size);
    submittedBytes += size;
    context().write(bytes).addListener(written -> sent(size));
  }

  private void sent(int bytes) {
    shared.metrics().sent(bytes);
    window.sent(bytes);
    if (current == null && !ahead.isEmpty()) {
      takeAhead();
      readOn();
    }
  }

  /** Gives the request's memory back when the last byte of its answer has left it. */
  private void releaseWhenSent(Exchange exchange) {
    if (window.unsentBytes() == 0 || !context().channel().isActive()) {
      exchange.releaseReservation();
    } else {
      context()
          .writeAndFlush(Unpooled.EMPTY_BUFFER)
          .addListener(written -> exchange.releaseReservation());
    }
  }

  private void finishIfDone() {
    if (answered && bodyEnded && !closing) {
      current = null;
      idleTicks = 0;
      headBegun = !ahead.isEmpty();
      if (shared.closing() && ahead.isEmpty()) {
        close();
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
    idleTicks = 0;
    releaseAhead();
    context()
        .writeAndFlush(Unpooled.EMPTY_BUFFER)
        .addListener(
            written -> {
              if (context().channel() instanceof DuplexChannel duplex && duplex.isActive()) {
                ChannelFuture finSent = duplex.shutdownOutput();
                finSent.addListener(done -> context().read());
              }
            });
  }

  private void close() {
    closing = true;
    context().close();
  }

  /** From the server's shutdown: idle connections go at once, others after their answer. */
  void shutDown(boolean force) {
    onLoop(
        () -> {
          if (force || current == null) {
            close();
          }
        },
        () -> {});
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    shared.closed(this);
    closing = true;
    releaseAhead();
    window.clientGone();
    Exchange exchange = current;
    if (exchange != null) {
      exchange.queue().fail(new S3Exception(S3Error.INCOMPLETE_BODY));
      if (collecting) {
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
    if (!(cause instanceof IOException)) {
      LOG.warn("connection of {} failed", ctx.channel().remoteAddress(), cause);
    }
    ctx.close();
  }

  // ---- Time ----

  boolean runsOn(EventExecutor loop) {
    return context().executor() == loop;
  }

  /** A regular look at how long the client has kept us waiting. */
  void tick(Ticks ticks) {
    long unsent = window.unsentBytes();
    if (unsent == 0) {
      answerProgress.reset(submittedBytes);
    } else if (answerProgress.stalled(takenBytes(), ticks.stall(), ticks.stallBytesMin())) {
      context().close();
      return;
    }
    idleTicks++;
    if (lingering) {
      if (unsent == 0 && idleTicks > ticks.linger()) {
        context().close();
      }
    } else if (closing) {
      bodyProgress.reset(receivedBytes);
    } else if (current == null) {
      idle(ticks, unsent);
    } else if (bodyEnded || !(collecting || answered || current.queue().hasRoom())) {
      bodyProgress.reset(receivedBytes);
    } else if (bodyProgress.stalled(receivedBytes, ticks.stall(), ticks.stallBytesMin())) {
      brokenOff(new S3Exception(S3Error.REQUEST_TIMEOUT));
    }
  }

  private void idle(Ticks ticks, long unsent) {
    if (headBegun && ahead.isEmpty() && idleTicks > ticks.head()) {
      refuse(new S3Exception(S3Error.REQUEST_TIMEOUT), shared.nextRequestId());
    } else if (!headBegun && unsent == 0 && idleTicks > ticks.idle()) {
      close();
    }
  }

  /** Bytes that the kernel has accepted for the client. */
  private long takenBytes() {
    ChannelOutboundBuffer waiting = context().channel().unsafe().outboundBuffer();
    return waiting == null
        ? submittedBytes
        : submittedBytes - waiting.totalPendingWriteBytes() + waiting.currentProgress();
  }

  private ChannelHandlerContext context() {
    ChannelHandlerContext ctx = context;
    if (ctx == null) {
      throw new IllegalStateException("not in a pipeline");
    }
    return ctx;
  }
}
