package dev.ashlar.gateway.encryption;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.protocol.message.BucketEncryptionDocument;
import dev.ashlar.protocol.message.KeyProtection;
import org.jspecify.annotations.Nullable;

/**
 * What a bucket says about the encryption of its new objects.
 *
 * @param standard of objects that say nothing else
 * @param kmsKeyId with {@link Standard#KMS}, as it was written; empty: the first key, or another
 *     standard
 * @param bucketKey of objects that do not say whether they want one
 * @param blocksCustomerKeys whether objects with SSE-C are refused
 */
public record BucketEncryption(
    Standard standard, String kmsKeyId, boolean bucketKey, boolean blocksCustomerKeys) {
  /** The default encryption. */
  public enum Standard {
    /** That of the server. */
    NONE(KeyProtection.KEY_PROTECTION_NONE),
    /** SSE-S3. */
    MASTER(KeyProtection.KEY_PROTECTION_MASTER),
    /** SSE-KMS. */
    KMS(KeyProtection.KEY_PROTECTION_KMS),
    /** One that this build cannot give: no object is written that does not say how. */
    UNKNOWN(KeyProtection.UNRECOGNIZED);

    private final KeyProtection stored;

    Standard(KeyProtection stored) {
      this.stored = stored;
    }

    private static Standard of(KeyProtection stored) {
      return switch (stored) {
        case KEY_PROTECTION_NONE -> NONE;
        case KEY_PROTECTION_MASTER -> MASTER;
        case KEY_PROTECTION_KMS -> KMS;
        case KEY_PROTECTION_CUSTOMER, UNRECOGNIZED -> UNKNOWN;
      };
    }
  }

  /** As it is stored; empty if it says nothing. */
  public ByteString toDocument() {
    return BucketEncryptionDocument.newBuilder()
        .setProtection(standard.stored)
        .setKey(kmsKeyId)
        .setBucketKey(bucketKey)
        .setBlocksCustomerKeys(blocksCustomerKeys)
        .build()
        .toByteString();
  }

  /**
   * @param stored null: nothing is configured
   */
  public static @Nullable BucketEncryption of(@Nullable ByteString stored) {
    if (stored == null) {
      return null;
    }
    try {
      BucketEncryptionDocument document = BucketEncryptionDocument.parseFrom(stored);
      return new BucketEncryption(
          Standard.of(document.getProtection()),
          document.getKey(),
          document.getBucketKey(),
          document.getBlocksCustomerKeys());
    } catch (InvalidProtocolBufferException e) {
      return new BucketEncryption(Standard.UNKNOWN, "", false, true);
    }
  }
}
