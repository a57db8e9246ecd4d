package dev.ashlar.transport.session;

import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.Handshake;
import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.protocol.wire.HandshakeFault;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.PeerIdentity;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.frame.FrameConnection;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * One accepted connection, on its event loop: authenticates the client, then hands its messages to
 * the subclass until the connection ends.
 */
public abstract class ServerSession extends Session {
  private final ServerSessions<?> sessions;
  private HandshakeMessage.@Nullable Hello hello;
  private @Nullable Handshake handshake;
  private boolean isCounted;
  private boolean isAuthenticated;

  protected ServerSession(ServerSessions<?> sessions, FrameConnection frames) {
    super(self -> frames);
    this.sessions = sessions;
  }

  /** The client, once it has authenticated. */
  protected final PeerIdentity client() {
    HandshakeMessage.Hello said = hello;
    if (said == null || !isAuthenticated) {
      throw new IllegalStateException("the client has not authenticated");
    }
    return said.identity();
  }

  // ---- For the subclass ----

  /** The client has authenticated: calls {@link #establish}, now or later, or refuses it. */
  protected abstract void authenticated() throws HandshakeException;

  /** The connection has ended; releases what its requests hold. */
  protected abstract void ended();

  // ---- For other threads ----

  /** Runs the task on the event loop; false if the loop has ended. */
  public final boolean execute(Runnable task) {
    return frames().execute(task);
  }

  public final void close(String why) {
    execute(() -> frames().close(new IOException(why)));
  }

  // ---- Handshake ----

  @Override
  public final void connected() {
    isCounted = sessions.beginHandshake();
    if (!isCounted) {
      refuse(busy());
    }
  }

  @Override
  final void handshake(FrameHeader header, HandshakeMessage said) throws IOException {
    try {
      switch (said) {
        case HandshakeMessage.Hello first -> challenge(first);
        case HandshakeMessage.Proof proof -> authenticate(proof);
        case HandshakeMessage.Challenge other -> throw unexpected(said);
        case HandshakeMessage.Welcome other -> throw unexpected(said);
        case HandshakeMessage.Refusal other -> throw unexpected(said);
      }
    } catch (HandshakeException e) {
      refuse(e);
    }
  }

  private void challenge(HandshakeMessage.Hello first) throws IOException {
    if (hello != null) {
      throw new WireFormatException("a second HELLO");
    }
    if (!isCounted) {
      return; // refused when it connected, and closing
    }
    hello = first;
    ServerSessions.Admission admission = sessions.admission();
    PeerIdentity client = first.identity();
    HandshakeFault fault = admission.identity().differenceTo(client);
    if (fault != null) {
      throw refused(fault, "version or cluster differs");
    }
    if (!admission.clients().contains(client.role())) {
      throw refused(HandshakeFault.WRONG_ROLE, client.role() + " is not served here");
    }
    HandshakeMessage.Challenge challenge =
        new HandshakeMessage.Challenge(admission.identity(), HandshakeMessage.newNonce());
    handshake = new Handshake(admission.secret(), first, challenge, frames().channelBinding());
    frames().send(0, 0, challenge);
  }

  private void authenticate(HandshakeMessage.Proof proof) throws IOException {
    Handshake now = handshake;
    if (now == null || isAuthenticated) {
      throw unexpected(proof);
    }
    ServerSessions.Admission admission = sessions.admission();
    if (!now.isAuthentic(proof)) {
      throw refused(HandshakeFault.NOT_AUTHENTIC, "the client does not know the cluster's secret");
    }
    isAuthenticated = true;
    if (hello != null && !admission.hasDriveOf(hello)) {
      throw refused(HandshakeFault.WRONG_DRIVE, "none of the expected drives is here");
    }
    frames().saltIncoming(now.clientSalt());
    authenticated();
  }

  /** Tells the client what it may use; from now on its requests are accepted. */
  protected final void establish(HandshakeMessage.Terms terms) {
    Handshake now = handshake;
    if (now == null || !isAuthenticated) {
      throw new IllegalStateException("the client has not authenticated");
    }
    setEstablished();
    sessions.established();
    endHandshake();
    frames().send(0, Wire.TAKES_TRACES, now.welcome(terms));
    frames().saltOutgoing(now.serverSalt());
    frames().established();
  }

  protected final HandshakeException busy() {
    return refused(HandshakeFault.BUSY, "too many connections");
  }

  private HandshakeException refused(HandshakeFault fault, String why) {
    HandshakeMessage.Hello said = hello;
    return HandshakeException.between(
        fault, sessions.admission().identity(), said == null ? null : said.identity(), why);
  }

  private void refuse(HandshakeException why) {
    sessions.warn("refused " + frames().peer() + ": " + why.getMessage());
    frames()
        .closeWith(
            new HandshakeMessage.Refusal(
                sessions.admission().identity(), why.fault(), String.valueOf(why.getMessage())),
            why);
  }

  private void endHandshake() {
    if (isCounted) {
      isCounted = false;
      sessions.endHandshake();
    }
  }

  @Override
  final void end(IOException why) {
    endHandshake();
    ended();
    sessions.closed(this, frames().peer(), why);
  }
}
