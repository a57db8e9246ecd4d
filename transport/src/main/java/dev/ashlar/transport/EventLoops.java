package dev.ashlar.transport;

import dev.ashlar.transport.frame.FrameConnection;
import dev.ashlar.transport.tls.ClusterTls;
import dev.ashlar.transport.tls.TlsFaults;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.handler.ssl.SslContext;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** The threads that serve any number of connections. */
public final class EventLoops implements AutoCloseable {
  private static final Duration FORCED_END = Duration.ofSeconds(5);

  /** Bytes that a channel buffers before new frames wait in their scheduler. */
  private static final WriteBufferWaterMark WATER_MARK =
      new WriteBufferWaterMark(128 << 10, 256 << 10);

  /**
   * Unsent bytes that the kernel buffers, where it can be set: short frames cannot overtake them.
   */
  private static final long UNSENT_BYTES_MAX = 256 << 10;

  private final Transport transport;
  private final EventLoopGroup loops;

  /**
   * @throws IllegalStateException when this machine does not have the transport
   */
  public EventLoops(Transport transport, int threads, String name) {
    transport.ensureAvailable();
    this.transport = transport;
    loops =
        new MultiThreadIoEventLoopGroup(
            threads, new DefaultThreadFactory(name, true), transport.ioHandlers());
  }

  /**
   * Connects.
   *
   * @param address by host name where there is one, because the certificate must match it
   * @param tls null: none
   * @throws SSLException when TLS is not available
   */
  public ChannelFuture connect(
      InetSocketAddress address,
      Duration timeout,
      @Nullable ClusterTls tls,
      FrameConnection connection)
      throws SSLException {
    SslContext way = tls == null ? null : tls.forConnecting();
    Bootstrap bootstrap =
        new Bootstrap()
            .group(loops)
            .channel(transport.channel())
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) timeout.toMillis())
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
            .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
            .handler(
                initializer(
                    () -> connection,
                    way == null
                        ? null
                        : alloc ->
                            List.of(
                                way.newHandler(
                                    alloc, address.getHostString(), address.getPort()))));
    if (transport == Transport.EPOLL) {
      bootstrap.option(EpollChannelOption.TCP_NOTSENT_LOWAT, UNSENT_BYTES_MAX);
    }
    return bootstrap.connect(address);
  }

  /**
   * Listens.
   *
   * @param tls null: none
   * @param connections makes one per accepted connection
   */
  public ChannelFuture listen(
      InetSocketAddress address, @Nullable ClusterTls tls, Supplier<FrameConnection> connections) {
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(loops)
            .channel(transport.serverChannel())
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
            .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
            .childHandler(
                initializer(
                    connections,
                    tls == null
                        ? null
                        : alloc ->
                            List.of(new WithoutTls(), tls.forAccepting().newHandler(alloc))));
    if (transport == Transport.EPOLL) {
      bootstrap.childOption(EpollChannelOption.TCP_NOTSENT_LOWAT, UNSENT_BYTES_MAX);
    }
    return bootstrap.bind(address);
  }

  private static ChannelInitializer<Channel> initializer(
      Supplier<FrameConnection> connections,
      @Nullable Function<ByteBufAllocator, List<ChannelHandler>> tls) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel channel) {
        connections.get().install(channel, tls == null ? List.of() : tls.apply(channel.alloc()));
      }
    };
  }

  /** Ends the threads and all connections. */
  @Override
  public void close() {
    loops
        .shutdownGracefully(0, FORCED_END.toMillis(), TimeUnit.MILLISECONDS)
        .awaitUninterruptibly(FORCED_END.toMillis() * 2);
  }

  /**
   * Stands in front of TLS on an accepted connection: sends an alert to a client without TLS before
   * TLS ends the connection.
   */
  private static final class WithoutTls extends ChannelInboundHandlerAdapter {
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
}
