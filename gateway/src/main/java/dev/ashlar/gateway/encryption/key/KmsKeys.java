package dev.ashlar.gateway.encryption.key;

import dev.ashlar.gateway.error.S3Exception;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Optional;

/** The keys of SSE-KMS, wherever they are kept. Thread-safe. */
public interface KmsKeys {
  /** No key management is configured. */
  KmsKeys NONE = new LocalKmsKeys(Map.of(), new SecureRandom());

  /** The key of requests that name none; empty: none is configured. */
  Optional<String> standard();

  /**
   * Whether new objects may name the key.
   *
   * @throws S3Exception KMS.NotFoundException if there is none, or none for this server;
   *     ServiceUnavailable if nobody can tell
   */
  void requireKnown(String keyId) throws S3Exception, InterruptedException;

  /** What identifies the key that seals, and tells nothing else; empty: it is not known here. */
  byte[] fingerprint(String keyId);

  /**
   * What begins all that the present version of the key seals; empty: the key has no versions.
   *
   * @throws S3Exception KMS.NotFoundException, or ServiceUnavailable
   */
  String version(String keyId) throws S3Exception, InterruptedException;

  /**
   * @param bound what has to be the same when it is opened
   * @throws S3Exception KMS.NotFoundException, or ServiceUnavailable
   */
  byte[] seal(String keyId, DataKey plain, byte[] bound) throws S3Exception, InterruptedException;

  /**
   * @param fingerprint of the key that sealed it, whatever its id is now; empty: only the id is
   *     known
   * @throws S3Exception ServiceUnavailable if it cannot be opened, for whatever reason
   */
  DataKey open(String keyId, byte[] fingerprint, byte[] sealed, byte[] bound)
      throws S3Exception, InterruptedException;
}
