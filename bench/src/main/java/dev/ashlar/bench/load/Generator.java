package dev.ashlar.bench.load;

import dev.ashlar.bench.process.BenchException;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** Makes the load: few threads, each with many connections. */
final class Generator implements AutoCloseable {
  private static final int PREPARING_CONNECTIONS = 16;
  private static final int READ_BYTES = 32 << 10;
  private static final int READ_BYTES_MAX = 256 << 10;
  private static final int CPUS_PER_THREAD = 4;

  private final Target target;
  private final Payload payload;
  private final EventLoopGroup group;
  private final int threads;
  private final Bootstrap bootstrap;

  /**
   * @param threads 0: one for four processors
   * @param isSigned whether bodies are covered by the signature
   */
  Generator(Target target, int threads, boolean isSigned, long seed) {
    this.target = target;
    this.threads =
        threads > 0
            ? threads
            : Math.max(1, Runtime.getRuntime().availableProcessors() / CPUS_PER_THREAD);
    payload = new Payload(seed, isSigned);
    // Epoll's timers are exact to microseconds, which the open loop needs.
    boolean hasEpoll = Epoll.isAvailable();
    IoHandlerFactory io = hasEpoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    Class<? extends SocketChannel> channel =
        hasEpoll ? EpollSocketChannel.class : NioSocketChannel.class;
    group = new MultiThreadIoEventLoopGroup(this.threads, io);
    bootstrap =
        new Bootstrap()
            .channel(channel)
            .remoteAddress(target.server().url().getHost(), target.server().port())
            .option(ChannelOption.TCP_NODELAY, true)
            .option(
                ChannelOption.RECVBUF_ALLOCATOR,
                new AdaptiveRecvByteBufAllocator(1024, READ_BYTES, READ_BYTES_MAX))
            // Keeps what it has freed at hand for each thread; bodies are dropped as they come.
            .option(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT);
  }

  /** Does all of this work, on a few connections. */
  Tally complete(Work work) throws InterruptedException {
    long now = System.nanoTime();
    Loop.Window window = new Loop.Window(now, now + Long.MAX_VALUE / 4, false);
    return run(work, PREPARING_CONNECTIONS, loop -> Pace.unlimited(), window);
  }

  /** The pace of the n-th loop. */
  interface PaceOf {
    Pace loop(int number);
  }

  Tally run(Work work, int connections, PaceOf paces, Loop.Window window)
      throws InterruptedException {
    int loops = Math.min(threads, connections);
    List<CompletableFuture<Tally>> running = new ArrayList<>();
    for (int number = 0; number < loops; number++) {
      List<Integer> own = new ArrayList<>();
      for (int connection = number; connection < connections; connection += loops) {
        own.add(connection);
      }
      EventLoop executor = group.next();
      Signer signer = new Signer(target);
      Loop.ConnectionFactory factory =
          (connection, owner) -> new LoadConnection(connection, target, signer, payload, owner);
      Loop loop = new Loop(executor, bootstrap, factory, work, paces.loop(number), window);
      running.add(loop.start(own));
    }
    Tally sum = new Tally();
    for (CompletableFuture<Tally> tally : running) {
      sum.add(await(tally));
    }
    return sum;
  }

  int threads() {
    return threads;
  }

  private static Tally await(CompletableFuture<Tally> tally) throws InterruptedException {
    try {
      return tally.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof BenchException expected) {
        throw expected;
      }
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    payload.close();
  }
}
