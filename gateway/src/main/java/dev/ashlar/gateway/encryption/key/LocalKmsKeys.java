package dev.ashlar.gateway.encryption.key;

import dev.ashlar.gateway.error.S3Exception;
import java.security.SecureRandom;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Keys of SSE-KMS that a file has. The first one is that of requests that name none. */
public final class LocalKmsKeys implements KmsKeys {
  private static final byte[] UNKNOWN = {};

  private final Map<String, SealingKey> keys = new LinkedHashMap<>();
  private final SecureRandom random;

  /**
   * @param keys of 32 bytes each by id, in their order
   */
  public LocalKmsKeys(Map<String, byte[]> keys, SecureRandom random) {
    keys.forEach((id, key) -> this.keys.put(id, new SealingKey(key)));
    this.random = random;
  }

  @Override
  public Optional<String> standard() {
    return keys.keySet().stream().findFirst();
  }

  @Override
  public void requireKnown(String keyId) throws S3Exception {
    if (!keys.containsKey(keyId)) {
      throw KeyFailures.unknownKmsKey(keyId);
    }
  }

  @Override
  public byte[] fingerprint(String keyId) {
    SealingKey key = keys.get(keyId);
    return key == null ? UNKNOWN : key.fingerprint();
  }

  @Override
  public String version(String keyId) {
    return "";
  }

  @Override
  public byte[] seal(String keyId, DataKey plain, byte[] bound) throws S3Exception {
    SealingKey key = keys.get(keyId);
    if (key == null) {
      throw KeyFailures.unknownKmsKey(keyId);
    }
    return key.seal(plain, bound, random);
  }

  @Override
  public DataKey open(String keyId, byte[] fingerprint, byte[] sealed, byte[] bound)
      throws S3Exception {
    SealingKey key = SealingKey.of(fingerprint, keys.values());
    if (key == null) {
      throw KeyFailures.unreadable(
          wanted(keyId, fingerprint) + KeyFailures.instead("id", keys.get(keyId)));
    }
    try {
      return key.open(sealed, bound);
    } catch (DamagedKeyException e) {
      throw KeyFailures.unreadable(wanted(keyId, fingerprint) + ": " + e.getMessage());
    }
  }

  private static String wanted(String keyId, byte[] fingerprint) {
    return "sealed with KMS key %s (%s)".formatted(keyId, SealingKey.text(fingerprint));
  }
}
