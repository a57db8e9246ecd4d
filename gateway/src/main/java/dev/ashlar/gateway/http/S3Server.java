package dev.ashlar.gateway.http;

import dev.ashlar.gateway.exchange.HttpExchange.RequestHandler;
import dev.ashlar.protocol.memory.ByteBudget;
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
import java.util.concurrent.TimeUnit;
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

  private final ServerState state;
  private final EventLoopGroup loops;
  private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
  private final Channel listener;

  /**
   * @throws IOException when the address cannot be bound
   * @throws IllegalStateException when the configured transport is missing
   */
  public S3Server(
      HttpConfig config,
      RequestHandler handler,
      ByteBudget budget,
      MeterRegistry meters,
      Clock clock)
      throws IOException {
    config.transport().ensureAvailable();
    state = new ServerState(config, handler, budget, meters, clock);
    loops =
        new MultiThreadIoEventLoopGroup(
            config.eventLoops(),
            new DefaultThreadFactory("s3-loop"),
            config.transport().ioHandlers());
    ChannelFuture bound = bootstrap(config).bind(config.listen()).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      loops.shutdownGracefully(0, 0, TimeUnit.SECONDS).awaitUninterruptibly();
      throw new IOException("cannot listen on " + config.listen(), bound.cause());
    }
    listener = bound.channel();
    watchTime(ClientTimeouts.Ticks.of(config.timeouts()));
  }

  private ServerBootstrap bootstrap(HttpConfig config) {
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
                channels.add(channel);
                config.security().accept(channel.pipeline());
                Connection connection = new Connection(state);
                channel
                    .pipeline()
                    .addLast(new RequestDecoder(config.limits(), connection), connection);
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

  /** The address it listens on, with the actual port. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  /**
   * Stops accepting, waits for running requests for the configured time, then closes their
   * connections.
   */
  @Override
  public void close() {
    state.beginClosing();
    listener.close().awaitUninterruptibly();
    state.connections.forEach(connection -> connection.handle().shutDown(false));
    long shutdownMs = state.config.timeouts().shutdown().toMillis();
    if (!channels.newCloseFuture().awaitUninterruptibly(shutdownMs)) {
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
}
