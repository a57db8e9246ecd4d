package dev.ashlar.gateway.encryption.key;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.process.RateLimitedLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** What clients and operators are told about keys that are missing, wrong or damaged. */
public final class KeyFailures {
  private static final Logger LOG = LoggerFactory.getLogger(KeyFailures.class);
  private static final RateLimitedLog UNREADABLE = new RateLimitedLog(LOG, Level.ERROR);
  private static final RateLimitedLog UNSEALED = new RateLimitedLog(LOG, Level.ERROR);

  private KeyFailures() {}

  /**
   * 503 for a data key that is there and cannot be opened. The operator learns why from the log.
   *
   * @param why follows "Cannot open the data key of an object: "
   */
  public static S3Exception unreadable(String why) {
    UNREADABLE.log("Cannot open the data key of an object: " + why);
    return new S3Exception(
        S3Error.SERVICE_UNAVAILABLE,
        "The key that encrypts the object is not available to the server.");
  }

  /**
   * What is said about a key that is not here.
   *
   * @param kind of name that it had: name or id
   * @param present the key of that name; null: there is none
   */
  static String instead(String kind, @Nullable SealingKey present) {
    return present == null
        ? ", which is not here"
        : ", which is not here: the key of that %s is %s"
            .formatted(kind, SealingKey.text(present.fingerprint()));
  }

  /**
   * 503 for a data key that cannot be sealed for a new object.
   *
   * @param why follows "Cannot seal the data key of a new object: "
   */
  public static S3Exception unsealed(String why) {
    UNSEALED.log("Cannot seal the data key of a new object: " + why);
    return new S3Exception(
        S3Error.SERVICE_UNAVAILABLE, "The key management is not available to the server.");
  }

  public static S3Exception unknownKmsKey(String keyId) {
    return new S3Exception(S3Error.KMS_NOT_FOUND, "Invalid keyId '" + keyId + "'");
  }
}
