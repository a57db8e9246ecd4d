package dev.ashlar.gateway.auth;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ashlar.gateway.checksum.Digests;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;

/** Caches derived signing keys by day and credential, which saves four HMACs per request. */
final class SigningKeys {
  private static final int KEYS_MAX = 4096;

  private final ConcurrentHashMap<Id, HmacKey> keys = new ConcurrentHashMap<>();

  /** Contains the secret, so that a changed secret needs no invalidation. */
  private record Id(String secret, String date, String region, String service) {}

  HmacKey get(String secret, SignatureClaim.CredentialScope scope) {
    Id id = new Id(secret, scope.date(), scope.region(), scope.service());
    HmacKey key = keys.get(id);
    if (key == null) {
      if (keys.size() >= KEYS_MAX) {
        keys.clear();
      }
      key = derive(id);
      keys.put(id, key);
    }
    return key;
  }

  private static HmacKey derive(Id id) {
    byte[] key = ("AWS4" + id.secret()).getBytes(UTF_8);
    for (String step :
        new String[] {
          id.date(), id.region(), id.service(), SignatureClaim.CredentialScope.TERMINATOR
        }) {
      key = new HmacKey(key).sign(step.getBytes(UTF_8));
    }
    return new HmacKey(key);
  }

  /**
   * An HMAC-SHA256 key (RFC 2104) with its two padded key blocks already digested: signing costs
   * two clones and no provider look-up. Safe to share, since the prepared digests are only cloned.
   */
  static final class HmacKey {
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
}
