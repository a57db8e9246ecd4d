package dev.ashlar.transport.frame;

import dev.ashlar.protocol.trace.TraceContext;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.Signal;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.frame.FrameScheduler.ChannelSink;
import dev.ashlar.transport.tls.TlsFaults;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One end of a connection, on its channel's event loop: reads and writes frames, and checks that
 * the peer is alive. Its {@link FrameHandler} interprets the frames.
 */
// A write or close that fails ends the channel, and channelInactive is called.
@SuppressWarnings("FutureReturnValueIgnored")
public final class FrameConnection extends ChannelInboundHandlerAdapter {
  private static final Logger LOG = LoggerFactory.getLogger(FrameConnection.class);

  /** A ping is due after this share of the longest silence. */
  private static final int PINGS_PER_SILENCE = 4;

  /** The beats of all connections are counted from here, so that one wake-up serves many. */
  private static final long BEATS_START_NANOS = System.nanoTime();

  private FrameHandler handler;
  private final FrameTimes times;
  private final long beatsPerPing;
  private final FrameReader reader;
  private final ChannelSink sink = new ChannelSink(this::context);
  private final FrameScheduler outbox = new FrameScheduler(sink);
  private volatile @Nullable ChannelHandlerContext context;
  private @Nullable IOException failure;
  private @Nullable ScheduledFuture<?> watch;
  private boolean isReading;
  private boolean hasHeard;
  private boolean isPumpDue;
  private boolean isClosed;
  private long pings;
  private long pongs;
  private long pingNanos;
  private long beatNanos;
  private long beats;

  public FrameConnection(FrameHandler handler, FrameTimes times) {
    this(frames -> handler, times);
  }

  /**
   * @param handler made for this connection
   */
  public FrameConnection(Function<FrameConnection, FrameHandler> handler, FrameTimes times) {
    this.times = times;
    beatsPerPing =
        Math.max(1, times.silenceMax().dividedBy(PINGS_PER_SILENCE).dividedBy(times.heartbeat()));
    this.handler = handler.apply(this);
    reader = new FrameReader(new Intercepting());
  }

  /**
   * Adds itself to the pipeline of a new channel.
   *
   * @param tls the handlers in front of it; empty: no TLS, so the kernel may write data in place
   */
  public void install(Channel channel, List<ChannelHandler> tls) {
    if (tls.isEmpty()) {
      channel.config().setRecvByteBufAllocator(new FrameReader.ReceiveBuffers(reader));
    }
    tls.forEach(channel.pipeline()::addLast);
    channel.pipeline().addLast(this);
  }

  // ---- For the handler, on the event loop ----

  /** Runs the task on the event loop; false if the loop has ended. */
  public boolean execute(Runnable task) {
    ChannelHandlerContext ctx = context;
    if (ctx == null || ctx.executor().isShuttingDown()) {
      return false;
    }
    try {
      ctx.executor().execute(task);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  public String peer() {
    ChannelHandlerContext ctx = context;
    return ctx == null ? "?" : String.valueOf(ctx.channel().remoteAddress());
  }

  /**
   * A value that identifies the TLS channel to both ends of it and to no one else; empty without
   * TLS.
   *
   * @throws IOException before the TLS handshake has ended
   */
  public byte[] channelBinding() throws IOException {
    SslHandler tls = tls();
    return tls == null ? new byte[0] : ChannelBinding.of(tls.engine());
  }

  private @Nullable SslHandler tls() {
    return context().pipeline().get(SslHandler.class);
  }

  public void send(int drive, long request, Message message) {
    send(new OutgoingMessage(drive, request, message, null, 0));
  }

  public void send(OutgoingMessage outgoing) {
    boolean isBounded = outbox.add(outgoing);
    if (isClosed) {
      outbox.close();
    } else if (!isBounded) {
      close(new WireFormatException("the peer does not read: too many messages wait for it"));
    } else if (!isReading && !isPumpDue) {
      isPumpDue = true;
      // Runs after the other sends of this moment, so that all leave in one flush.
      context().executor().execute(this::pump);
    }
  }

  /** Sends no more of the message, and tells the peer not to wait for the rest. */
  public void cancel(OutgoingMessage outgoing) {
    outgoing.cancel();
    send(outgoing.drive, outgoing.request, new Signal.Cancel());
  }

  /** The trace of the request that is arriving; null: it has none. */
  public @Nullable TraceContext trace() {
    return reader.trace();
  }

  /** From now on this handler interprets the frames, beginning with the one that is arriving. */
  public void handOver(FrameHandler next) {
    handler = next;
  }

  /** Frames that the peer sends after the one being handled are salted. */
  public void saltIncoming(long salt) {
    reader.establish(salt);
  }

  /** Frames sent from now on are salted; earlier messages are framed first. */
  public void saltOutgoing(long salt) {
    pump();
    outbox.salt(salt);
  }

  /** The handshake is over; from now on the peer must answer pings. */
  public void established() {
    stopWatch();
    beatNanos = System.nanoTime();
    long periodNanos = times.heartbeat().toNanos();
    long firstNanos = periodNanos - (beatNanos - BEATS_START_NANOS) % periodNanos;
    watch =
        context()
            .executor()
            .scheduleAtFixedRate(this::beat, firstNanos, periodNanos, TimeUnit.NANOSECONDS);
  }

  /** Sends a last message if possible, and closes. */
  public void closeWith(Message last, IOException why) {
    failure = failure == null ? why : failure;
    reader.close();
    send(0, 0, last);
    pump();
    context().writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
  }

  public void close(IOException why) {
    failure = failure == null ? why : failure;
    reader.close();
    context().close();
  }

  private ChannelHandlerContext context() {
    ChannelHandlerContext ctx = context;
    if (ctx == null) {
      throw new IllegalStateException("not in a pipeline");
    }
    return ctx;
  }

  // ---- Time ----

  private void handshakeOverdue() {
    close(new IOException("no complete handshake within " + times.handshake().toMillis() + " ms"));
  }

  /** A periodic task that throws is not run again, so an exception ends the connection. */
  private void beat() {
    try {
      look();
    } catch (RuntimeException | Error e) {
      broken(e);
    }
  }

  private void look() {
    long now = System.nanoTime();
    long silenceMax = times.silenceMax().toNanos();
    if (now - beatNanos > Math.max(silenceMax / 2, 2 * times.heartbeat().toNanos())) {
      // This process was paused: the answer may have arrived without having been read.
      pingNanos = now;
    }
    beatNanos = now;
    boolean isWaiting = pings > pongs;
    if (isWaiting && now - pingNanos > silenceMax) {
      close(new IOException("the peer does not answer pings"));
      return;
    }
    if (!isWaiting && beats++ % beatsPerPing == 0) {
      pingNanos = now;
      send(0, ++pings, new Signal.Ping());
    }
    handler.tick();
  }

  private void stopWatch() {
    ScheduledFuture<?> running = watch;
    if (running != null) {
      running.cancel(false);
    }
  }

  /** Handles pings and pongs; passes everything else to the handler. */
  private final class Intercepting implements FrameListener {
    @Override
    public @Nullable ReceiveTarget arriving(FrameHeader header, Message message)
        throws IOException {
      return handler.arriving(header, message);
    }

    @Override
    public void arrived(FrameHeader header, Message message) throws IOException {
      switch (message) {
        case Signal.Ping ping -> send(0, header.request(), new Signal.Pong());
        case Signal.Pong pong -> pongs = header.request();
        default -> handler.arrived(header, message);
      }
    }
  }

  // ---- The channel ----

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    context = ctx;
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) throws IOException {
    watch =
        context()
            .executor()
            .schedule(this::handshakeOverdue, times.handshake().toNanos(), TimeUnit.NANOSECONDS);
    handler.connected();
    ctx.fireChannelActive();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object received) throws IOException {
    isReading = true;
    ByteBuf bytes = (ByteBuf) received;
    try {
      if (!hasHeard) {
        hasHeard = true;
        checkNoTls(bytes);
      }
      if (!isClosed) {
        reader.read(bytes);
      }
    } finally {
      bytes.release();
    }
  }

  /** Detects that only the other side uses TLS. */
  private void checkNoTls(ByteBuf first) throws IOException {
    if (tls() == null
        && first.isReadable()
        && TlsFaults.isTls(first.getByte(first.readerIndex()))) {
      context().writeAndFlush(TlsFaults.wrongProtocol());
      throw TlsFaults.otherSideHasTls();
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    isReading = false;
    pump();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    pump();
  }

  private void pump() {
    isPumpDue = false;
    try {
      if (!isClosed && outbox.pump()) {
        sink.flush();
      }
    } catch (RuntimeException | Error e) {
      broken(e);
    }
  }

  private void broken(Throwable cause) {
    LOG.error("The connection with {} failed.", peer(), cause);
    close(new IOException(cause));
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    isReading = false;
    Throwable reason = cause instanceof IOException ? cause : cause.getCause();
    if (reason instanceof ClosedChannelException) {
      close(peerClosed());
    } else if (reason instanceof SSLException ssl) {
      close(TlsFaults.explain(ssl));
    } else if (reason instanceof IOException io) {
      close(io);
    } else {
      broken(cause);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    end(peerClosed());
  }

  private IOException peerClosed() {
    SslHandler tls = tls();
    boolean isBeforeTls = tls != null && !tls.handshakeFuture().isSuccess();
    return new IOException(
        "the peer closed the connection" + (isBeforeTls ? " before the TLS handshake ended" : ""));
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    end(new IOException("not connected"));
  }

  private void end(IOException otherwise) {
    if (!isClosed) {
      isClosed = true;
      stopWatch();
      reader.close();
      outbox.close();
      handler.closed(failure == null ? otherwise : failure);
    }
  }
}
