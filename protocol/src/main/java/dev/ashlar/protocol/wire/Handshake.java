package dev.ashlar.protocol.wire;

import java.nio.ByteBuffer;

/**
 * What both sides derive from the secret and from what they said: that they know it, and the salts
 * of their frames. All of HELLO and CHALLENGE goes in: both nonces, so that nothing can be used
 * again; both identities; and a label per direction, so that nothing can be sent back. What both
 * know of the channel below goes in too, so that nobody can stand between them and pass it on.
 */
public final class Handshake {
  private final ClusterSecret secret;
  private final byte[] said;

  /** Over a channel of which nothing is known. */
  public Handshake(
      ClusterSecret secret, HandshakeMessage.Hello hello, HandshakeMessage.Challenge challenge) {
    this(secret, hello, challenge, new byte[0]);
  }

  /**
   * @param channel what both sides, and only they, see of the channel below; empty: nothing
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

  /** Of the frames that the client sends behind its proof. */
  public long clientSalt() {
    return ByteBuffer.wrap(secret.mac("client frames", said)).getLong();
  }

  /** Of the frames that the server sends behind its welcome. */
  public long serverSalt() {
    return ByteBuffer.wrap(secret.mac("server frames", said)).getLong();
  }
}
