package dev.ashlar.transport.session;

import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.frame.FrameConnection;
import dev.ashlar.transport.frame.FrameHandler;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.frame.ReceiveTarget;
import dev.ashlar.transport.tls.ClusterTls;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One port for all that a process serves to others. Whether a connection is about drives or about
 * calls shows its first frame: a HELLO that expects drives, or none.
 */
public final class FramePort implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FramePort.class);

  /** Connections that have not said anything yet. */
  private static final int SILENT_MAX = 64;

  private final FrameTimes times;
  private final Channel listener;
  private final RateLimitedLog refusals = new RateLimitedLog(LOG);
  private final AtomicInteger silent = new AtomicInteger();
  private volatile @Nullable Service drives;
  private volatile @Nullable Service calls;

  /** Serves the connections of one kind. */
  public interface Service {
    /** What becomes of a connection, whose first frame is on its way. */
    FrameHandler accept(FrameConnection frames);
  }

  /**
   * @param tls null: none
   * @param loops stay the caller's
   * @throws IOException when the address cannot be bound
   */
  public FramePort(
      InetSocketAddress listen, @Nullable ClusterTls tls, FrameTimes times, EventLoops loops)
      throws IOException {
    this.times = times;
    ChannelFuture bound = loops.listen(listen, tls, this::accept).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException("cannot listen on " + listen, bound.cause());
    }
    listener = bound.channel();
  }

  /** Where it listens, with the port it got. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  public void serveDrives(Service service) {
    drives = service;
  }

  public void serveCalls(Service service) {
    calls = service;
  }

  private FrameConnection accept() {
    return new FrameConnection(Arrival::new, times);
  }

  /** It comes before what it is about is served, as while a process starts; it will try again. */
  private static final class NotServedException extends IOException {
    private static final long serialVersionUID = 1;

    NotServedException(String message) {
      super(message);
    }
  }

  /** A connection until it says what it is about; from then on that service's. */
  private final class Arrival implements FrameHandler {
    private final FrameConnection frames;
    private @Nullable FrameHandler served;
    private boolean isCounted;

    Arrival(FrameConnection frames) {
      this.frames = frames;
    }

    @Override
    public void connected() {
      isCounted = true;
      if (silent.incrementAndGet() > SILENT_MAX) {
        frames.close(new IOException("too many connections"));
      }
    }

    @Override
    public @Nullable ReceiveTarget arriving(FrameHeader header, Message message)
        throws IOException {
      FrameHandler by = served;
      if (by == null) {
        by = choose(message);
        served = by;
        spoken();
        by.connected();
      }
      return by.arriving(header, message);
    }

    private FrameHandler choose(Message message) throws IOException {
      if (!(message instanceof HandshakeMessage.Hello hello)) {
        throw new WireFormatException(message.type() + " out of turn");
      }
      Service service = service(hello);
      if (service == null) {
        throw new NotServedException(
            hello.drives().isEmpty() ? "nothing is called here yet" : "no drives are here yet");
      }
      return service.accept(frames);
    }

    private @Nullable Service service(HandshakeMessage.Hello hello) {
      Service named = hello.drives().isEmpty() ? calls : drives;
      // The drives of another version's HELLO are not known. Whoever serves here refuses it.
      return named == null && hello.side().version() != Wire.VERSION ? drives : named;
    }

    private void spoken() {
      if (isCounted) {
        isCounted = false;
        silent.decrementAndGet();
      }
    }

    @Override
    public void arrived(FrameHeader header, Message message) throws IOException {
      FrameHandler by = served;
      if (by != null) {
        by.arrived(header, message);
      }
    }

    @Override
    public void tick() {
      FrameHandler by = served;
      if (by != null) {
        by.tick();
      }
    }

    @Override
    public void closed(IOException why) {
      spoken();
      FrameHandler by = served;
      if (by != null) {
        by.closed(why);
      } else if (why instanceof NotServedException) {
        refusals.info("connection of " + frames.peer() + " ended: " + why.getMessage());
      } else {
        refusals.warn("connection of " + frames.peer() + " ended: " + why.getMessage());
      }
    }
  }

  /** Takes no more connections; those that are there stay their services'. */
  @Override
  public void close() {
    listener.close().awaitUninterruptibly();
  }
}
