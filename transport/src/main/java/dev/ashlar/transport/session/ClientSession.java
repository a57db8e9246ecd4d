package dev.ashlar.transport.session;

import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.protocol.wire.HandshakeFault;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.PeerIdentity;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.frame.FrameConnection;
import dev.ashlar.transport.frame.FrameHandler;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.tls.ClusterTls;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** One connection that this process makes: the way there, its half of the handshake, the end. */
public abstract class ClientSession implements FrameHandler, ConnectionKeeper.Attempt {
  private final Way way;
  private final FrameConnection frames;
  private final ClientGreeting greeting;
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile @Nullable Channel channel;
  private volatile @Nullable IOException why;

  /**
   * How it connects.
   *
   * @param connect how long that may take
   * @param tls null: none
   */
  public record Way(FrameTimes frames, Duration connect, @Nullable ClusterTls tls) {}

  /**
   * @param expected the role of the other side
   * @param drives that are expected there
   */
  protected ClientSession(
      Way way, PeerIdentity here, ClusterSecret secret, Role expected, List<UUID> drives) {
    this.way = way;
    greeting = new ClientGreeting(here, secret, expected, drives);
    frames = new FrameConnection(connection -> this, way.frames());
  }

  protected final FrameConnection frames() {
    return frames;
  }

  /** The other side is who it says, and has said on which terms. */
  protected abstract void welcomed(HandshakeMessage.Welcome welcome) throws IOException;

  // ---- For other threads ----

  @Override
  public final void connect(EventLoops loops, InetSocketAddress address) {
    ChannelFuture connected;
    try {
      connected = loops.connect(address, way.connect(), way.tls(), frames);
    } catch (SSLException e) {
      ended(new IOException("TLS cannot be used: " + e.getMessage(), e));
      return;
    }
    channel = connected.channel();
    var unused =
        connected.addListener(
            done -> {
              if (!done.isSuccess()) {
                ended(new IOException("cannot connect: " + done.cause().getMessage()));
              }
            });
  }

  @Override
  public final void close(String reason) {
    Channel connecting = channel;
    boolean isTold = frames.execute(() -> frames.close(new IOException(reason)));
    if (!isTold && connecting != null) {
      var unused = connecting.close(); // one that fails finds the channel closed
    }
  }

  /** To be told last: nothing of it is under way any more. */
  protected final void ended(IOException reason) {
    if (why == null) {
      why = reason;
    }
    closed.countDown();
  }

  @Override
  public final IOException awaitClosed() throws InterruptedException {
    closed.await();
    IOException reason = why;
    return reason == null ? new IOException("closed") : reason;
  }

  // ---- Handshake ----

  @Override
  public final void connected() {
    frames.send(0, 0, greeting.hello());
  }

  protected final void greeted(HandshakeMessage said) throws IOException {
    switch (said) {
      case HandshakeMessage.Challenge challenge -> {
        frames.send(0, 0, greeting.proof(challenge, frames.channelBinding()));
        frames.saltOutgoing(greeting.handshake().clientSalt());
      }
      case HandshakeMessage.Welcome welcome -> {
        greeting.check(welcome);
        frames.saltIncoming(greeting.handshake().serverSalt());
        frames.established();
        welcomed(welcome);
      }
      case HandshakeMessage.Refusal refusal -> throw greeting.refusal(refusal);
      case HandshakeMessage.Hello other -> throw unexpected(said);
      case HandshakeMessage.Proof other -> throw unexpected(said);
    }
  }

  protected final HandshakeException refused(HandshakeFault fault, String reason) {
    return greeting.refused(fault, reason);
  }

  protected static WireFormatException unexpected(Message message) {
    return new WireFormatException(message.type() + " out of turn");
  }
}
