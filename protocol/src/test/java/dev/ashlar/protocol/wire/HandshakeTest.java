package dev.ashlar.protocol.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.model.DriveId;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class HandshakeTest {
  private static final ClusterSecret SECRET = secret("a secret of this cluster");
  private static final HandshakeMessage.Terms TERMS =
      new HandshakeMessage.Terms(
          10,
          Wire.DATA_BYTES_MAX,
          Wire.DATA_BYTES_MAX,
          List.of(new HandshakeMessage.ServedDrive(new DriveId(new UUID(1, 1), 3), null)));

  @Test
  void bothSidesProveThatTheyKnowTheSecret() {
    Handshake client = new Handshake(SECRET, hello(1), challenge(2));
    Handshake server = new Handshake(SECRET, hello(1), challenge(2));
    assertTrue(server.isAuthentic(client.proof()));
    assertTrue(client.isAuthentic(server.welcome(TERMS)));
    assertEquals(client.clientSalt(), server.clientSalt());
    assertEquals(client.serverSalt(), server.serverSalt());
    assertNotEquals(client.serverSalt(), client.clientSalt());
  }

  /** Builds of different ages authenticate each other. */
  @Test
  void proofsAndSaltsStayAsTheyAre() {
    Handshake handshake = new Handshake(SECRET, hello(1), challenge(2), new byte[] {1, 2, 3});
    HexFormat hex = HexFormat.of();
    assertEquals(
        """
        f4d84d38eaae7880e7e906e3760fa5c03f933b192e02703fdb061b32763d275c
        2dc13a4a2c86b6769f69e32eb4cdf21c8681d8db9ff77bb06967344f14eba8cf
        c8aab68485d096df
        202b5712d2459b36
        """,
        String.join(
            "\n",
            hex.formatHex(handshake.proof().proof()),
            hex.formatHex(handshake.welcome(TERMS).proof()),
            Long.toHexString(handshake.clientSalt()),
            Long.toHexString(handshake.serverSalt()),
            ""));
  }

  @Test
  void anotherSecretProvesNothing() {
    Handshake client = new Handshake(secret("a secret of another one"), hello(1), challenge(2));
    Handshake server = new Handshake(SECRET, hello(1), challenge(2));
    assertFalse(server.isAuthentic(client.proof()));
    assertFalse(client.isAuthentic(server.welcome(TERMS)));
  }

  @Test
  void aProofIsValidOnceAndInOneDirection() {
    HandshakeMessage.Proof proof = new Handshake(SECRET, hello(1), challenge(2)).proof();
    assertFalse(new Handshake(SECRET, hello(1), challenge(3)).isAuthentic(proof));
    assertFalse(new Handshake(SECRET, hello(3), challenge(2)).isAuthentic(proof));
    Handshake same = new Handshake(SECRET, hello(1), challenge(2));
    assertFalse(same.isAuthentic(new HandshakeMessage.Welcome(proof.proof(), TERMS)));
    assertFalse(same.isAuthentic(new HandshakeMessage.Proof(same.welcome(TERMS).proof())));
  }

  @Test
  void theTermsArePartOfTheProof() {
    Handshake both = new Handshake(SECRET, hello(1), challenge(2));
    HandshakeMessage.Terms others =
        new HandshakeMessage.Terms(10, Wire.DATA_BYTES_MAX, Wire.DATA_BYTES_MAX, List.of());
    assertFalse(
        both.isAuthentic(new HandshakeMessage.Welcome(both.welcome(TERMS).proof(), others)));
  }

  @Test
  void aRelayBetweenTwoChannelsProvesNothing() {
    byte[] channel = {1, 2, 3};
    Handshake client = new Handshake(SECRET, hello(1), challenge(2), channel);
    assertTrue(new Handshake(SECRET, hello(1), challenge(2), channel).isAuthentic(client.proof()));
    for (byte[] other : List.of(new byte[0], new byte[] {1, 2, 4}, new byte[] {1, 2, 3, 0})) {
      Handshake server = new Handshake(SECRET, hello(1), challenge(2), other);
      assertFalse(server.isAuthentic(client.proof()));
      assertFalse(client.isAuthentic(server.welcome(TERMS)));
      assertNotEquals(server.clientSalt(), client.clientSalt());
    }
  }

  @Test
  void secretsAreLongAndNeverShown() {
    assertThrows(IllegalArgumentException.class, () -> new ClusterSecret(new byte[15]));
    assertFalse(SECRET.toString().contains("of this cluster"));
  }

  private static ClusterSecret secret(String text) {
    return new ClusterSecret(text.getBytes(StandardCharsets.UTF_8));
  }

  private static HandshakeMessage.Hello hello(int nonce) {
    return new HandshakeMessage.Hello(side(Role.GATEWAY), nonce(nonce), List.of(new UUID(1, 1)));
  }

  private static HandshakeMessage.Challenge challenge(int nonce) {
    return new HandshakeMessage.Challenge(side(Role.STORAGE_NODE), nonce(nonce));
  }

  private static PeerIdentity side(Role role) {
    return new PeerIdentity(
        Wire.VERSION, role, new UUID(8, 8), new UUID(9, role == Role.GATEWAY ? 1 : 2));
  }

  private static byte[] nonce(int value) {
    byte[] nonce = new byte[HandshakeMessage.NONCE_BYTES];
    nonce[0] = (byte) value;
    return nonce;
  }
}
