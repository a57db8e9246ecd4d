package dev.ashlar.protocol.wire;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.model.DriveId;
import java.security.SecureRandom;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The handshake: HELLO → CHALLENGE → PROOF → WELCOME, with a REFUSAL in place of any of them. The
 * frame header, and HELLO, CHALLENGE and REFUSAL up to the nonce or the text, are the same in all
 * versions, so that different versions can refuse each other.
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
   * The client's first message.
   *
   * @param drives expected at the server
   */
  record Hello(PeerIdentity identity, byte[] nonce, List<UUID> drives) implements HandshakeMessage {
    public Hello {
      drives = List.copyOf(drives);
      checkLength(nonce, NONCE_BYTES);
      if (drives.size() > Wire.DRIVES_MAX) {
        throw new IllegalArgumentException(drives.size() + " drives");
      }
    }
  }

  /** The server's answer, which the client must answer with a proof. */
  record Challenge(PeerIdentity identity, byte[] nonce) implements HandshakeMessage {
    public Challenge {
      checkLength(nonce, NONCE_BYTES);
    }
  }

  /** Proves that the client knows the secret. */
  record Proof(byte[] proof) implements HandshakeMessage {
    public Proof {
      checkLength(proof, PROOF_BYTES);
    }
  }

  /** Proves that the server knows it too, and states what it serves. */
  record Welcome(byte[] proof, Terms terms) implements HandshakeMessage {
    public Welcome {
      checkLength(proof, PROOF_BYTES);
    }
  }

  /**
   * What may be under way per drive on one connection, from the sending of a request to its answer.
   *
   * @param drives a request names its drive by the index in this list
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
   * @param refusal the fault that new data would be refused with; null when it is accepted
   */
  record ServedDrive(DriveId drive, @Nullable ShardFault refusal) {}

  /** Why the handshake failed; the connection ends after it. */
  record Refusal(PeerIdentity identity, HandshakeFault fault, String why)
      implements HandshakeMessage {
    private static final int WHY_CHARS_MAX = 320;

    public Refusal {
      why = why.substring(0, Math.min(why.length(), WHY_CHARS_MAX));
    }
  }

  private static void checkLength(byte[] value, int expected) {
    if (value.length != expected) {
      throw new IllegalArgumentException(value.length + " bytes instead of " + expected);
    }
  }
}
