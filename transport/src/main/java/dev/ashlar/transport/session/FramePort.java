package dev.ashlar.transport.session;

import dev.ashlar.protocol.process.RateLimitedLog;
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
import org.slf4j.event.Level;

/**
 * The port on which a process serves the others of its cluster. The first frame of a connection
 * selects the service: a HELLO that expects drives, or one that does not.
 */
public final class FramePort implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FramePort.class);

  /** The most connections that have not sent a HELLO yet. */
  private static final int SILENT_MAX = 64;

  private final FrameTimes times;
  private final Channel listener;
  private final RateLimitedLog refusals = new RateLimitedLog(LOG, Level.WARN);
  private final RateLimitedLog tooEarly = new RateLimitedLog(LOG, Level.INFO);
  private final AtomicInteger silent = new AtomicInteger();
  private volatile @Nullable Service drives;
  private volatile @Nullable Service calls;

  /** Serves the connections of one kind. */
  public interface Service {
    /** Returns the handler of a connection whose first frame has arrived. */
    FrameHandler accept(FrameConnection frames);
  }

  /**
   * @param tls null: none
   * @param loops the caller closes them
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

  /** The address it listens on, with the port that was chosen if none was given. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  public void serveDrives(Service service) {
    drives = service;
  }

  public void serveCalls(Service service) {
    calls = service;
  }

  /** Connections that have not sent a HELLO yet. */
  public int silentConnections() {
    return silent.get();
  }

  /** How many warnings about peers were logged. */
  public long warnings() {
    return refusals.logged();
  }

  private FrameConnection accept() {
    return new FrameConnection(Arrival::new, times);
  }

  /** The service has not started yet; the client will try again. */
  private static final class NotServedException extends IOException {
    private static final long serialVersionUID = 1;

    NotServedException(String message) {
      super(message);
    }
  }

  /** A connection until its HELLO; from then on the service's handler is the connection's. */
  private final class Arrival implements FrameHandler {
    private final FrameConnection frames;
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
      FrameHandler chosen = choose(message);
      frames.handOver(chosen);
      endSilence();
      chosen.connected();
      return chosen.arriving(header, message);
    }

    private FrameHandler choose(Message message) throws IOException {
      if (!(message instanceof HandshakeMessage.Hello hello)) {
        throw new WireFormatException(message.type() + " out of turn");
      }
      boolean isAboutDrives = !hello.drives().isEmpty();
      Service service = isAboutDrives ? drives : calls;
      if (service == null && hello.identity().version() != Wire.VERSION) {
        // The drives in another version's HELLO are unknown. Any service here refuses the version.
        service = drives;
      }
      if (service == null) {
        throw new NotServedException(
            isAboutDrives ? "drives are not served yet" : "calls are not served yet");
      }
      return service.accept(frames);
    }

    private void endSilence() {
      if (isCounted) {
        isCounted = false;
        silent.decrementAndGet();
      }
    }

    @Override
    public void arrived(FrameHeader header, Message message) {
      throw new IllegalStateException("the service's handler has taken over");
    }

    @Override
    public void tick() {}

    @Override
    public void closed(IOException why) {
      endSilence();
      String text = "connection of " + frames.peer() + " ended: " + why.getMessage();
      if (why instanceof NotServedException) {
        tooEarly.log(text);
      } else {
        refusals.log(text);
      }
    }
  }

  /** Accepts no more connections; those that are open belong to their services. */
  @Override
  public void close() {
    listener.close().awaitUninterruptibly();
  }
}
