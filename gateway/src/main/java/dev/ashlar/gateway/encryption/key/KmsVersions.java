package dev.ashlar.gateway.encryption.key;

import dev.ashlar.gateway.error.S3Exception;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The present versions of KMS keys, each asked for once. When the key management does not answer,
 * it is asked no more. Thread-safe.
 */
public final class KmsVersions {
  private final KmsKeys keys;
  private final Map<String, String> known = new ConcurrentHashMap<>();
  private volatile @Nullable S3Exception unavailable;

  public KmsVersions(KmsKeys keys) {
    this.keys = keys;
  }

  /** Why nothing more can be learned; null: so far all could. */
  public @Nullable S3Exception unavailable() {
    return unavailable;
  }

  /**
   * @throws S3Exception as {@link KmsKeys#version}
   */
  String of(String keyId) throws S3Exception, InterruptedException {
    String version = known.get(keyId);
    return version == null ? ask(keyId) : version;
  }

  /**
   * Asks again, as after a failure.
   *
   * @throws S3Exception likewise
   */
  public String ask(String keyId) throws S3Exception, InterruptedException {
    S3Exception before = unavailable;
    if (before != null) {
      throw before;
    }
    try {
      String version = keys.version(keyId);
      known.put(keyId, version);
      return version;
    } catch (S3Exception e) {
      if (e.error().isUnserved()) {
        unavailable = e;
      }
      throw e;
    }
  }
}
