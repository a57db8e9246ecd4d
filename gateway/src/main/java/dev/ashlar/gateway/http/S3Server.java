package dev.ashlar.gateway.http;

import dev.ashlar.gateway.audit.AuditLog;
import dev.ashlar.gateway.exchange.HttpExchange.RequestHandler;
import dev.ashlar.protocol.memory.ByteBudget;
import dev.ashlar.transport.tls.TlsFaults;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The S3 port. It accepts connections from construction until it is closed. */
public final class S3Server implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(S3Server.class);
  private static final int BACKLOG = 4096;
  private static final int READ_BYTES_MIN = 512;
  private static final int READ_BYTES_FIRST = 4096;
  private static final int READ_BYTES_MAX = 128 << 10;
  private static final Duration FORCED_END = Duration.ofSeconds(5);

  /** For requests that are on their way when the server begins to close. */
  private static final Duration LAST_REQUESTS = Duration.ofMillis(500);

  private final ServerState state;
  private final EventLoopGroup loops;
  private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
  private final List<Channel> listeners = new ArrayList<>();

  /**
   * @param audit null: there is no audit log
   * @throws IOException when an address cannot be bound
   * @throws IllegalStateException when the configured transport is missing
   */
  public S3Server(
      HttpConfig config,
      RequestHandler handler,
      ByteBudget budget,
      MeterRegistry meters,
      Clock clock,
      @Nullable AuditLog audit)
      throws IOException {
    config.transport().ensureAvailable();
    state = new ServerState(config, handler, budget, meters, clock, audit);
    loops =
        new MultiThreadIoEventLoopGroup(
            config.eventLoops(),
            new DefaultThreadFactory("s3-loop"),
            config.transport().ioHandlers());
    for (HttpConfig.Listener each : config.listeners()) {
      ChannelFuture bound = bootstrap(config, each).bind(each.address()).awaitUninterruptibly();
      if (!bound.isSuccess()) {
        loops.shutdownGracefully(0, 0, TimeUnit.SECONDS).awaitUninterruptibly();
        throw new IOException("cannot listen on " + each.address(), bound.cause());
      }
      listeners.add(bound.channel());
    }
    watchTime(ClientTimeouts.Ticks.of(config.timeouts()));
  }

  private ServerBootstrap bootstrap(HttpConfig config, HttpConfig.Listener listener) {
    return new ServerBootstrap()
        .group(loops)
        .channel(config.transport().serverChannel())
        .option(ChannelOption.SO_BACKLOG, BACKLOG)
        .option(ChannelOption.SO_REUSEADDR, true)
        .childOption(ChannelOption.TCP_NODELAY, true)
        .childOption(ChannelOption.AUTO_READ, false)
        .childOption(ChannelOption.SO_SNDBUF, config.limits().sendBufferBytes())
        .childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
        .childOption(
            ChannelOption.RECVBUF_ALLOCATOR,
            new AdaptiveRecvByteBufAllocator(READ_BYTES_MIN, READ_BYTES_FIRST, READ_BYTES_MAX))
        .childHandler(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                int open = channels.size();
                if (open >= config.limits().connectionsMax()) {
                  state.metrics.refusedConnections.increment();
                  state.refused.log(
                      "Connections are closed at once: "
                          + open
                          + " are open, and --connections allows no more.");
                  channel.unsafe().closeForcibly();
                  return;
                }
                channels.add(channel);
                Consumer<ChannelPipeline> tls = listener.tls();
                Connection connection = new Connection(state, tls != null);
                channel
                    .pipeline()
                    .addLast(new RequestDecoder(config.limits(), connection), connection);
                if (tls != null) {
                  tls.accept(channel.pipeline());
                }
              }
            });
  }

  // The timers end with their loops.
  @SuppressWarnings("FutureReturnValueIgnored")
  private void watchTime(ClientTimeouts.Ticks ticks) {
    long periodNanos = ticks.period().toNanos();
    for (EventExecutor loop : loops) {
      loop.scheduleAtFixedRate(
          () -> tick(loop, ticks), periodNanos, periodNanos, TimeUnit.NANOSECONDS);
    }
  }

  private void tick(EventExecutor loop, ClientTimeouts.Ticks ticks) {
    for (Connection connection : state.connections) {
      if (connection.loop() == loop) {
        connection.tick(ticks);
      }
    }
  }

  /** The first address it listens on, with the actual port. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listeners.getFirst().localAddress();
  }

  /**
   * Stops accepting, and closes each connection after its next answer. A connection without a
   * request stays for a moment: a request that is on its way would fail. Running requests end
   * within the configured time, or their connections are closed.
   */
  @Override
  public void close() {
    state.beginClosing();
    listeners.forEach(listener -> listener.close().awaitUninterruptibly());
    long begin = System.nanoTime();
    boolean isClosed = false;
    while (!isClosed && System.nanoTime() - begin < state.config.timeouts().shutdown().toNanos()) {
      state.connections.forEach(connection -> connection.handle().shutDown(false));
      isClosed = channels.newCloseFuture().awaitUninterruptibly(LAST_REQUESTS.toMillis());
    }
    if (!isClosed) {
      LOG.warn("Requests did not end in time; closing {} connections.", channels.size());
      state.connections.forEach(connection -> connection.handle().shutDown(true));
      channels.newCloseFuture().awaitUninterruptibly(FORCED_END.toMillis());
    }
    awaitRequests();
    loops
        .shutdownGracefully(0, FORCED_END.toMillis(), TimeUnit.MILLISECONDS)
        .awaitUninterruptibly();
  }

  /** Waits for request threads, which may outlive their connections. */
  private void awaitRequests() {
    try {
      int permits = state.config.limits().requestsMax();
      if (state.admission.tryAcquire(permits, FORCED_END.toMillis(), TimeUnit.MILLISECONDS)) {
        state.admission.release(permits);
      } else {
        LOG.warn("Requests are still running without connections at the end of the shutdown.");
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Direct memory reserved for socket buffers by all servers of this process. */
  public static long bufferBytes() {
    return PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();
  }

  /** Netty's decoder, made to refuse requests that servers could interpret differently. */
  private static final class RequestDecoder extends HttpRequestDecoder {
    // A body piece is as large as one read from the socket; the decoder need not cut it further.
    private static final int PIECE_BYTES_MAX = 1 << 20;

    private final Connection connection;

    // Whether the first byte has been looked at. TLS has looked at it itself.
    private boolean isKnown;

    RequestDecoder(HttpConfig.Limits limits, Connection connection) {
      super(
          new HttpDecoderConfig()
              .setMaxInitialLineLength(limits.requestLineBytesMax())
              .setMaxHeaderSize(limits.headerBytesMax())
              .setMaxChunkSize(PIECE_BYTES_MAX)
              .setAllowDuplicateContentLengths(false)
              .setStrictLineParsing(true));
      this.connection = connection;
      isKnown = connection.encrypted();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
      ByteBuf bytes = (ByteBuf) message;
      connection.bytesArrived(bytes.readableBytes());
      if (isKnown) {
        super.channelRead(ctx, bytes);
      } else {
        firstRead(ctx, bytes);
      }
    }

    /** The HTTP decoder would skip the beginning of a TLS record and wait for the rest. */
    private void firstRead(ChannelHandlerContext ctx, ByteBuf bytes) throws Exception {
      isKnown = true;
      if (bytes.isReadable() && TlsFaults.isTls(bytes.getByte(bytes.readerIndex()))) {
        bytes.release();
        connection.withoutTls();
      } else {
        super.channelRead(ctx, bytes);
      }
    }

    @Override
    protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
      throw new IllegalArgumentException("Content-Length beside Transfer-Encoding");
    }
  }
}
