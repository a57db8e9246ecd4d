package dev.ashlar.storage.server;

import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.Greeting;
import dev.ashlar.protocol.wire.Handshake;
import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.protocol.wire.HandshakeFault;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.protocol.wire.Side;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.protocol.wire.WireFormatException;
import java.security.SecureRandom;
import java.util.Collection;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The server's half of the handshake: what it says to what it hears. */
final class ServerGreeting {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Side here;
  private final ClusterSecret secret;
  private final Collection<UUID> drives;
  private Greeting.@Nullable Hello hello;
  private @Nullable Handshake handshake;
  private boolean isProved;

  ServerGreeting(Side here, ClusterSecret secret, Collection<UUID> drives) {
    this.here = here;
    this.secret = secret;
    this.drives = drives;
  }

  Greeting.Challenge challenge(Greeting.Hello said) throws HandshakeException, WireFormatException {
    if (hello != null) {
      throw new WireFormatException("a second HELLO");
    }
    hello = said;
    Side there = said.side();
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
    if (there.role() == Role.STORAGE_NODE) {
      throw refused(HandshakeFault.WRONG_ROLE, "storage nodes serve, they do not ask");
    }
    byte[] nonce = new byte[Greeting.NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    Greeting.Challenge challenge = new Greeting.Challenge(here, nonce);
    handshake = new Handshake(secret, said, challenge);
    return challenge;
  }

  /** From here on the peer is who it says; only then it is told what is served. */
  void check(Greeting.Proof proof) throws HandshakeException, WireFormatException {
    Handshake now = handshake;
    Greeting.Hello said = hello;
    if (now == null || said == null || isProved) {
      throw new WireFormatException("PROOF out of turn");
    }
    if (!now.isAuthentic(proof)) {
      throw refused(HandshakeFault.NOT_AUTHENTIC, "the client does not know the cluster's secret");
    }
    isProved = true;
    if (said.drives().stream().noneMatch(drives::contains)) {
      throw refused(
          HandshakeFault.WRONG_DRIVE, "none of the drives is here that are expected, but others");
    }
  }

  HandshakeException refused(HandshakeFault fault, String why) {
    Greeting.Hello said = hello;
    return HandshakeException.between(fault, here, said == null ? null : said.side(), why);
  }

  Side here() {
    return here;
  }

  /** The instance that has proved itself. */
  UUID client() {
    Greeting.Hello said = hello;
    if (said == null || !isProved) {
      throw new IllegalStateException("unknown client");
    }
    return said.side().instance();
  }

  Handshake handshake() {
    Handshake now = handshake;
    if (now == null || !isProved) {
      throw new IllegalStateException("unknown client");
    }
    return now;
  }
}
