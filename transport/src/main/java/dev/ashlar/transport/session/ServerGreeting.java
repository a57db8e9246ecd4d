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
import java.util.Collection;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The server's half of the handshake: what it says to what it hears. */
public final class ServerGreeting {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final PeerIdentity here;
  private final ClusterSecret secret;
  private final Set<Role> clients;
  private final Collection<UUID> drives;
  private HandshakeMessage.@Nullable Hello hello;
  private @Nullable Handshake handshake;
  private boolean isProved;

  /**
   * @param clients the roles that may ask
   * @param drives one of which a client has to expect here; empty: it is not about drives
   */
  public ServerGreeting(
      PeerIdentity here, ClusterSecret secret, Set<Role> clients, Collection<UUID> drives) {
    this.here = here;
    this.secret = secret;
    this.clients = clients;
    this.drives = drives;
  }

  /**
   * @param channel what is known of the channel below, {@link FrameConnection#channelBinding()}
   */
  public HandshakeMessage.Challenge challenge(HandshakeMessage.Hello said, byte[] channel)
      throws HandshakeException, WireFormatException {
    if (hello != null) {
      throw new WireFormatException("a second HELLO");
    }
    hello = said;
    PeerIdentity there = said.side();
    if (there.version() != Wire.VERSION) {
      throw refused(
          there.version() < Wire.VERSION
              ? HandshakeFault.OLDER_VERSION
              : HandshakeFault.NEWER_VERSION,
          "different wire versions");
    }
    if (!there.cluster().equals(here.cluster())) {
      throw refused(HandshakeFault.WRONG_CLUSTER, "different clusters");
    }
    if (!clients.contains(there.role())) {
      throw refused(HandshakeFault.WRONG_ROLE, there.role() + " serves, it does not ask here");
    }
    byte[] nonce = new byte[HandshakeMessage.NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    HandshakeMessage.Challenge challenge = new HandshakeMessage.Challenge(here, nonce);
    handshake = new Handshake(secret, said, challenge, channel);
    return challenge;
  }

  /** From here on the peer is who it says; only then it is told what is served. */
  public void check(HandshakeMessage.Proof proof) throws HandshakeException, WireFormatException {
    Handshake now = handshake;
    HandshakeMessage.Hello said = hello;
    if (now == null || said == null || isProved) {
      throw new WireFormatException("PROOF out of turn");
    }
    if (!now.isAuthentic(proof)) {
      throw refused(HandshakeFault.NOT_AUTHENTIC, "the client does not know the cluster's secret");
    }
    isProved = true;
    if (!drives.isEmpty() && said.drives().stream().noneMatch(drives::contains)) {
      throw refused(
          HandshakeFault.WRONG_DRIVE, "none of the drives is here that are expected, but others");
    }
  }

  public HandshakeException refused(HandshakeFault fault, String why) {
    HandshakeMessage.Hello said = hello;
    return HandshakeException.between(fault, here, said == null ? null : said.side(), why);
  }

  public PeerIdentity here() {
    return here;
  }

  /** Of the client that has proved itself. */
  public Role role() {
    HandshakeMessage.Hello said = hello;
    if (said == null || !isProved) {
      throw new IllegalStateException("unknown client");
    }
    return said.side().role();
  }

  /** The instance that has proved itself. */
  public UUID client() {
    HandshakeMessage.Hello said = hello;
    if (said == null || !isProved) {
      throw new IllegalStateException("unknown client");
    }
    return said.side().instance();
  }

  public Handshake handshake() {
    Handshake now = handshake;
    if (now == null || !isProved) {
      throw new IllegalStateException("unknown client");
    }
    return now;
  }
}
