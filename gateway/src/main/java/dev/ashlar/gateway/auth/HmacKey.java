package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.checksum.Digests;
import java.security.MessageDigest;
import java.util.Arrays;

/**
 * An HMAC-SHA256 key (RFC 2104) with its two padded key blocks already digested: signing costs two
 * clones and no provider look-up. Safe to share, since the prepared digests are only cloned.
 */
final class HmacKey {
  private static final int BLOCK_BYTES = 64;

  private final MessageDigest inner;
  private final MessageDigest outer;

  HmacKey(byte[] key) {
    byte[] block =
        Arrays.copyOf(key.length > BLOCK_BYTES ? Digests.sha256().digest(key) : key, BLOCK_BYTES);
    inner = padded(block, 0x36);
    outer = padded(block, 0x5c);
  }

  private static MessageDigest padded(byte[] block, int pad) {
    byte[] padded = new byte[BLOCK_BYTES];
    for (int i = 0; i < BLOCK_BYTES; i++) {
      padded[i] = (byte) (block[i] ^ pad);
    }
    MessageDigest digest = Digests.sha256();
    digest.update(padded);
    return digest;
  }

  byte[] sign(byte[] message) {
    byte[] innerHash = Digests.copy(inner).digest(message);
    return Digests.copy(outer).digest(innerHash);
  }
}
