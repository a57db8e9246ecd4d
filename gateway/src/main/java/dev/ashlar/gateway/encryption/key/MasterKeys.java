package dev.ashlar.gateway.encryption.key;

import com.google.protobuf.ByteString;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The master keys of the server, by name. The first one seals, all of them open. */
public final class MasterKeys {
  public static final MasterKeys NONE = new MasterKeys(Map.of());

  private final Map<String, SealingKey> keys = new LinkedHashMap<>();

  /**
   * @param keys of 32 bytes each, in their order
   */
  public MasterKeys(Map<String, byte[]> keys) {
    keys.forEach((name, key) -> this.keys.put(name, new SealingKey(key)));
  }

  /** The name of the key that seals; null: there is none. */
  public @Nullable String current() {
    return keys.isEmpty() ? null : keys.keySet().iterator().next();
  }

  /** What tells the keys apart, by name. */
  public Map<String, String> fingerprints() {
    Map<String, String> fingerprints = new LinkedHashMap<>();
    keys.forEach((name, key) -> fingerprints.put(name, SealingKey.text(key.fingerprint())));
    return fingerprints;
  }

  @Nullable SealingKey named(String name) {
    return keys.get(name);
  }

  /** The key that has this fingerprint, whatever its name is now; null: none is here. */
  @Nullable SealingKey of(ByteString fingerprint) {
    return SealingKey.of(fingerprint.toByteArray(), keys.values());
  }
}
