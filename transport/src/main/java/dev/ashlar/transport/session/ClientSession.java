package dev.ashlar.transport.session;

import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.Handshake;
import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.protocol.wire.HandshakeFault;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.PeerIdentity;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.frame.FrameConnection;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.frame.OutgoingMessage;
import dev.ashlar.transport.tls.ClusterTls;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.util.collection.LongObjectHashMap;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * One connection that this process makes: connects, authenticates both sides, then hands messages
 * to the subclass until the connection ends. It keeps the requests that are under way.
 */
public abstract class ClientSession<R extends PendingRequest> extends Session {
  private final Options options;
  private final HandshakeMessage.Hello hello;
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile @Nullable Channel channel;
  private volatile @Nullable IOException why;
  private @Nullable PeerIdentity server;
  private @Nullable Handshake handshake;
  private final LongObjectHashMap<R> underWay = new LongObjectHashMap<>();
  private long lastId;

  /** Whether the server's build knows that requests may have a trace. */
  private boolean takesTraces;

  /**
   * How this process connects, and as what.
   *
   * @param identity of this process
   * @param server the role that the other side must have
   * @param connect how long connecting may take
   * @param tls null: none
   */
  public record Options(
      PeerIdentity identity,
      ClusterSecret secret,
      Role server,
      FrameTimes frames,
      Duration connect,
      @Nullable ClusterTls tls) {}

  /**
   * @param drives expected at the server; empty: the service is not about drives
   */
  protected ClientSession(Options options, List<UUID> drives) {
    super(self -> new FrameConnection(self, options.frames()));
    this.options = options;
    hello = new HandshakeMessage.Hello(options.identity(), HandshakeMessage.newNonce(), drives);
  }

  // ---- For the subclass ----

  /** Both sides have authenticated, and the server has stated its terms. */
  protected abstract void established(HandshakeMessage.Terms terms) throws IOException;

  /** The connection has ended, and these requests get no answer; fails all that waits for it. */
  protected abstract void ended(List<R> unanswered, IOException reason);

  /**
   * A request got no answer in time.
   *
   * @param isRemoved whether it is no longer under way, because the peer has seen nothing of it
   */
  protected abstract void overdue(R request, boolean isRemoved);

  protected final int countUnderWay() {
    return underWay.size();
  }

  protected final void send(R request) {
    long id = ++lastId;
    underWay.put(id, request);
    OutgoingMessage message = request.send(id);
    message.trace(takesTraces ? request.trace() : null);
    frames().send(message);
  }

  /** The request that this frame answers. */
  protected final R request(FrameHeader header) throws WireFormatException {
    R request = underWay.get(header.request());
    if (request == null) {
      throw new WireFormatException(header.type() + " answers nothing");
    }
    return request;
  }

  /** Tells the peer not to wait for the rest of the data of a request that it has answered. */
  protected final void stopSending(R request) {
    OutgoingMessage sent = request.sent();
    if (sent != null && !sent.isEnded()) {
      frames().cancel(sent);
    }
  }

  /** Removes an answered request. */
  protected final void remove(R request) {
    underWay.remove(request.id());
  }

  /** Gives up the requests under way whose deadline has passed. */
  protected final void giveUpOverdue(long nowNanos) {
    for (R request : List.copyOf(underWay.values())) {
      if (request.isOverdue(nowNanos) && !request.isGivenUp()) {
        giveUp(request);
      }
    }
  }

  /**
   * Stops waiting for an answer. A request that the peer may have seen stays under way until the
   * peer has answered it.
   */
  protected final void giveUp(R request) {
    request.giveUp();
    OutgoingMessage sent = request.sent();
    boolean isUnseen = sent != null && !sent.isBegun();
    if (sent != null && sent.isBegun()) {
      frames().cancel(sent);
    } else if (sent != null) {
      sent.cancel();
      remove(request);
    }
    overdue(request, isUnseen);
  }

  // ---- For other threads ----

  final void connect(EventLoops loops, InetSocketAddress address) {
    ChannelFuture connected;
    try {
      connected = loops.connect(address, options.connect(), options.tls(), frames());
    } catch (SSLException e) {
      finish(new IOException("TLS cannot be used: " + e.getMessage(), e));
      return;
    }
    channel = connected.channel();
    var unused =
        connected.addListener(
            done -> {
              if (!done.isSuccess()) {
                finish(new IOException("cannot connect: " + done.cause().getMessage()));
              }
            });
  }

  final void close(String reason) {
    Channel connecting = channel;
    boolean isScheduled = frames().execute(() -> frames().close(new IOException(reason)));
    if (!isScheduled && connecting != null) {
      var unused = connecting.close(); // one that fails finds the channel closed
    }
  }

  private void finish(IOException reason) {
    if (why == null) {
      why = reason;
    }
    closed.countDown();
  }

  @Override
  final void end(IOException reason) {
    List<R> unanswered = List.copyOf(underWay.values());
    underWay.clear();
    ended(unanswered, reason);
    finish(reason);
  }

  /** Waits for the end; returns its reason. */
  final IOException awaitClosed() throws InterruptedException {
    closed.await();
    IOException reason = why;
    return reason == null ? new IOException("closed") : reason;
  }

  // ---- Handshake ----

  @Override
  public final void connected() {
    frames().send(0, 0, hello);
  }

  @Override
  final void handshake(FrameHeader header, HandshakeMessage said) throws IOException {
    switch (said) {
      case HandshakeMessage.Challenge challenge -> prove(challenge);
      case HandshakeMessage.Welcome welcome -> establish(header, welcome);
      case HandshakeMessage.Refusal refusal -> {
        server = refusal.identity();
        throw refused(refusal.fault().seenFromThere(), refusal.why());
      }
      case HandshakeMessage.Hello other -> throw unexpected(said);
      case HandshakeMessage.Proof other -> throw unexpected(said);
    }
  }

  private void prove(HandshakeMessage.Challenge challenge) throws IOException {
    if (handshake != null) {
      throw new WireFormatException("a second CHALLENGE");
    }
    PeerIdentity peer = challenge.identity();
    server = peer;
    HandshakeFault fault = options.identity().differenceTo(peer);
    if (fault == null && peer.role() != options.server()) {
      fault = HandshakeFault.WRONG_ROLE;
    }
    if (fault != null) {
      throw refused(fault, "the other side is not the one expected");
    }
    Handshake now = new Handshake(options.secret(), hello, challenge, frames().channelBinding());
    handshake = now;
    frames().send(0, 0, now.proof());
    frames().saltOutgoing(now.clientSalt());
  }

  private void establish(FrameHeader header, HandshakeMessage.Welcome welcome) throws IOException {
    Handshake now = handshake;
    if (now == null) {
      throw unexpected(welcome);
    }
    if (!now.isAuthentic(welcome)) {
      throw refused(HandshakeFault.NOT_AUTHENTIC, "the other side does not know the secret");
    }
    setEstablished();
    takesTraces = (header.request() & Wire.TAKES_TRACES) != 0;
    frames().saltIncoming(now.serverSalt());
    frames().established();
    established(welcome.terms());
  }

  protected final HandshakeException refused(HandshakeFault fault, String reason) {
    return HandshakeException.between(fault, options.identity(), server, reason);
  }
}
