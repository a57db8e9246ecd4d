package dev.ashlar.transport.session;

import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.Handshake;
import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.protocol.wire.HandshakeFault;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.PeerIdentity;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.frame.FrameConnection;
import java.security.SecureRandom;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The client's half of the handshake: what it says to what it hears. */
public final class ClientGreeting {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final ClusterSecret secret;
  private final Role expected;
  private final HandshakeMessage.Hello hello;
  private @Nullable PeerIdentity server;
  private @Nullable Handshake handshake;
  private boolean isWelcome;

  /**
   * @param expected the role of the other side
   * @param drives that are expected there
   */
  public ClientGreeting(PeerIdentity here, ClusterSecret secret, Role expected, List<UUID> drives) {
    this.secret = secret;
    this.expected = expected;
    byte[] nonce = new byte[HandshakeMessage.NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    hello = new HandshakeMessage.Hello(here, nonce, drives);
  }

  public HandshakeMessage.Hello hello() {
    return hello;
  }

  /**
   * @param channel what is known of the channel below, {@link FrameConnection#channelBinding()}
   */
  public HandshakeMessage.Proof proof(HandshakeMessage.Challenge challenge, byte[] channel)
      throws HandshakeException, WireFormatException {
    if (handshake != null) {
      throw new WireFormatException("a second CHALLENGE");
    }
    server = challenge.side();
    HandshakeFault fault = difference(challenge.side());
    if (fault != null) {
      throw refused(fault, "the other side is not the one expected");
    }
    Handshake now = new Handshake(secret, hello, challenge, channel);
    handshake = now;
    return now.proof();
  }

  private @Nullable HandshakeFault difference(PeerIdentity there) {
    PeerIdentity here = hello.side();
    if (there.version() != Wire.VERSION) {
      return there.version() < Wire.VERSION
          ? HandshakeFault.OLDER_VERSION
          : HandshakeFault.NEWER_VERSION;
    }
    if (!there.cluster().equals(here.cluster())) {
      return HandshakeFault.WRONG_CLUSTER;
    }
    return there.role() == expected ? null : HandshakeFault.WRONG_ROLE;
  }

  /** From here on the server is who it says. */
  public void check(HandshakeMessage.Welcome welcome)
      throws HandshakeException, WireFormatException {
    Handshake now = handshake;
    if (now == null || isWelcome) {
      throw new WireFormatException("WELCOME out of turn");
    }
    if (!now.isAuthentic(welcome)) {
      throw refused(HandshakeFault.NOT_AUTHENTIC, "the other side does not know the secret");
    }
    isWelcome = true;
  }

  public HandshakeException refused(HandshakeFault fault, String why) {
    return HandshakeException.between(fault, hello.side(), server, why);
  }

  public HandshakeException refusal(HandshakeMessage.Refusal said) {
    return HandshakeException.between(
        said.fault().seenFromThere(), hello.side(), said.side(), said.why());
  }

  public Handshake handshake() {
    Handshake now = handshake;
    if (now == null) {
      throw new IllegalStateException("unknown server");
    }
    return now;
  }
}
