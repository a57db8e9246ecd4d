package dev.ashlar.gateway.encryption;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.encryption.key.KeyDescription;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.message.KeyProtection;
import dev.ashlar.protocol.message.ObjectFacts;
import org.jspecify.annotations.Nullable;

/** What a request that changes an object may say about its encryption: how it is. */
public final class PresentEncryption {
  private PresentEncryption() {}

  /**
   * Refuses an algorithm, a KMS key or a context that the object does not have. Otherwise policies
   * would count a header that changes nothing.
   *
   * @param asked of which this does not look at SSE-C, whose key has to open the object
   * @throws S3Exception InvalidRequest; or what is wrong with the fields in themselves
   */
  public static void requireSame(Encryptions encryptions, EncryptionFields asked, ObjectFacts facts)
      throws S3Exception {
    KeyDescription key = KeyDescription.of(facts.getWrappedKey()).orElse(null);
    KeyDescription kms =
        key != null && key.protection() == KeyProtection.KEY_PROTECTION_KMS ? key : null;
    String keyId = kms == null ? null : kms.keyId();
    ByteString context = kms == null ? null : kms.context();
    String askedAlgorithm = asked.algorithm();
    String askedKeyId = asked.kmsKeyId();
    String askedContext = asked.context();
    boolean isSame =
        (askedAlgorithm == null || askedAlgorithm.trim().equals(algorithm(key)))
            && (askedKeyId == null || encryptions.named(askedKeyId).equals(keyId))
            && (askedContext == null || EncryptionContext.parse(askedContext).equals(context));
    if (!isSame) {
      throw S3Exception.invalidRequest(
          "The object is not encrypted as the request says, and an append does not change that.");
    }
  }

  private static @Nullable String algorithm(@Nullable KeyDescription key) {
    return switch (key == null ? KeyProtection.KEY_PROTECTION_NONE : key.protection()) {
      case KEY_PROTECTION_MASTER -> "AES256";
      case KEY_PROTECTION_KMS -> "aws:kms";
      case KEY_PROTECTION_CUSTOMER, KEY_PROTECTION_NONE, UNRECOGNIZED -> null;
    };
  }
}
