package dev.ashlar.protocol.wire;

import java.nio.ByteBuffer;

/**
 * The proofs and frame salts that both sides derive from the secret and the messages exchanged.
 * They cover all of HELLO and CHALLENGE: both nonces, which prevents replay; both identities; and a
 * label per direction, which prevents reflection. They also cover the channel binding, which
 * prevents relaying by a man in the middle.
 */
public final class Handshake {
  private final ClusterSecret secret;
  private final byte[] said;

  /** Without a channel binding. */
  public Handshake(
      ClusterSecret secret, HandshakeMessage.Hello hello, HandshakeMessage.Challenge challenge) {
    this(secret, hello, challenge, new byte[0]);
  }

  /**
   * @param channel identifies the TLS channel; empty without TLS
   */
  public Handshake(
      ClusterSecret secret,
      HandshakeMessage.Hello hello,
      HandshakeMessage.Challenge challenge,
      byte[] channel) {
    this.secret = secret;
    ByteBuffer all =
        ByteBuffer.allocate(
            HandshakeCodec.bytes(hello) + HandshakeCodec.bytes(challenge) + channel.length);
    HandshakeCodec.put(all, hello);
    HandshakeCodec.put(all, challenge);
    said = all.put(channel).array();
  }

  public HandshakeMessage.Proof proof() {
    return new HandshakeMessage.Proof(secret.mac("client", said));
  }

  public boolean isAuthentic(HandshakeMessage.Proof proof) {
    return ClusterSecret.matches(proof().proof(), proof.proof());
  }

  public HandshakeMessage.Welcome welcome(HandshakeMessage.Terms terms) {
    ByteBuffer bytes = ByteBuffer.allocate(HandshakeCodec.bytes(terms));
    HandshakeCodec.putTerms(bytes, terms);
    return new HandshakeMessage.Welcome(secret.mac("server", said, bytes.array()), terms);
  }

  public boolean isAuthentic(HandshakeMessage.Welcome welcome) {
    return ClusterSecret.matches(welcome(welcome.terms()).proof(), welcome.proof());
  }

  /** The salt of the client's frames after its proof. */
  public long clientSalt() {
    return ByteBuffer.wrap(secret.mac("client frames", said)).getLong();
  }

  /** The salt of the server's frames after its welcome. */
  public long serverSalt() {
    return ByteBuffer.wrap(secret.mac("server frames", said)).getLong();
  }
}
