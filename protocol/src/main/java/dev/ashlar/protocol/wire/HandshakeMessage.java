package dev.ashlar.protocol.wire;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.model.DriveId;
import java.security.SecureRandom;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The handshake: HELLO → CHALLENGE → PROOF → WELCOME, or a REFUSAL in the place of any of them. The
 * frame's header, and HELLO, CHALLENGE and REFUSAL up to the nonce or the text, are the same in all
 * versions, so that different ones can tell each other.
 */
public sealed interface HandshakeMessage extends Message {
  /** For nonces. */
  SecureRandom RANDOM = new SecureRandom();

  int NONCE_BYTES = 32;
  int PROOF_BYTES = 32;

  /** A number that was never used before and cannot be guessed. */
  static byte[] newNonce() {
    byte[] nonce = new byte[NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    return nonce;
  }

  /**
   * The client's first words.
   *
   * @param drives that it expects there
   */
  record Hello(PeerIdentity identity, byte[] nonce, List<UUID> drives) implements HandshakeMessage {
    public Hello {
      drives = List.copyOf(drives);
      if (nonce.length != NONCE_BYTES || drives.size() > Wire.DRIVES_MAX) {
        throw new IllegalArgumentException(drives.size() + " drives");
      }
    }

    @Override
    public MessageType type() {
      return MessageType.HELLO;
    }
  }

  /** The server's answer: the client has to prove itself first. */
  record Challenge(PeerIdentity identity, byte[] nonce) implements HandshakeMessage {
    public Challenge {
      if (nonce.length != NONCE_BYTES) {
        throw new IllegalArgumentException("nonce of " + nonce.length + " bytes");
      }
    }

    @Override
    public MessageType type() {
      return MessageType.CHALLENGE;
    }
  }

  /** That the client knows the secret. */
  record Proof(byte[] proof) implements HandshakeMessage {
    public Proof {
      if (proof.length != PROOF_BYTES) {
        throw new IllegalArgumentException("proof of " + proof.length + " bytes");
      }
    }

    @Override
    public MessageType type() {
      return MessageType.PROOF;
    }
  }

  /** That the server knows it too, and what it serves. */
  record Welcome(byte[] proof, Terms terms) implements HandshakeMessage {
    public Welcome {
      if (proof.length != PROOF_BYTES) {
        throw new IllegalArgumentException("proof of " + proof.length + " bytes");
      }
    }

    @Override
    public MessageType type() {
      return MessageType.WELCOME;
    }
  }

  /**
   * What a connection may be used for: so much may be in flight per drive, from when a request is
   * sent until it is answered.
   *
   * @param drives a request names its drive by its place in this list
   */
  record Terms(int operationsMax, int writeBytesMax, int readBytesMax, List<ServedDrive> drives) {
    public Terms {
      drives = List.copyOf(drives);
      if (operationsMax < 1
          || writeBytesMax < Wire.DATA_BYTES_MAX
          || readBytesMax < Wire.DATA_BYTES_MAX
          || drives.size() > Wire.DRIVES_MAX) {
        throw new IllegalArgumentException("terms for " + drives.size() + " drives");
      }
    }
  }

  /**
   * @param refusal what new data would be refused with; null when it is taken
   */
  record ServedDrive(DriveId drive, @Nullable ShardFault refusal) {}

  /** Why not; the connection ends behind it. */
  record Refusal(PeerIdentity identity, HandshakeFault fault, String why)
      implements HandshakeMessage {
    private static final int WHY_CHARS_MAX = 320;

    public Refusal {
      why = why.substring(0, Math.min(why.length(), WHY_CHARS_MAX));
    }

    @Override
    public MessageType type() {
      return MessageType.REFUSAL;
    }
  }
}
